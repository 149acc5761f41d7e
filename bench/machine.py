"""The machine that figures were measured on, as results say it."""

import os
import platform
import re
from pathlib import Path


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {"cpu": model[1] if model else platform.processor(), "cores": os.cpu_count(), "load": os.getloadavg()[0]}
