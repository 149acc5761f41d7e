"""The picture of an episode: nodes over time as a heat map, below it the queue and the jobs that are done."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allot.errors import RunError, UsageError

WIDTH, HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _MIDDLE, _BOTTOM = 56, 12, 24, 26, 22
_QUEUE_HEIGHT = 90
_BACKGROUND = (255, 255, 255)
_INK = (60, 60, 60)
# From idle to all GPUs in use; readable in grey and by the colour-blind.
_IDLE, _FULL = np.array([236, 240, 245.0]), np.array([16, 78, 139.0])
_DOWN = (190, 60, 50)
_QUEUE, _DONE = (213, 94, 0), (0, 158, 115)


class ClusterPainter:
    """Takes in what each step shows and draws it; needs Pillow, and matplotlib to show a window."""

    def __init__(self) -> None:
        self.begin()
        self._window = None

    def begin(self) -> None:
        self._times: list[float] = []
        self._used: list[np.ndarray] = []
        self._active: list[int] = []
        self._done: list[int] = []

    def add(self, time_s: float, used: Sequence[int], there: Sequence[int], active: int, finished: int) -> None:
        """The state from this time on; of several at one time the last counts."""
        share = np.array(used, dtype=float) / np.maximum(np.array(there, dtype=float), 1)
        share[np.array(there) == 0] = np.nan
        done = (self._done[-1] if self._done else 0) + finished
        if self._times and self._times[-1] == time_s:
            self._used[-1], self._active[-1], self._done[-1] = share, active, done
            return
        self._times.append(time_s)
        self._used.append(share)
        self._active.append(active)
        self._done.append(done)

    def picture(self, points: int | None = None) -> np.ndarray:
        """(HEIGHT, WIDTH, 3) uint8 of the first `points` points, default all."""
        try:
            from PIL import Image, ImageDraw
        except ImportError as error:
            raise RunError("pictures need Pillow: pip install pillow") from error
        points = len(self._times) if points is None else points
        if points == 0:
            raise UsageError("nothing to draw: call reset first")
        image = Image.new("RGB", (WIDTH, HEIGHT), _BACKGROUND)
        draw = ImageDraw.Draw(image)
        map_bottom = HEIGHT - _BOTTOM - _QUEUE_HEIGHT - _MIDDLE
        box = (_LEFT, _TOP, WIDTH - _RIGHT, map_bottom)
        image.paste(self._heat_map(points, box[2] - box[0], box[3] - box[1]), box[:2])
        nodes = max(len(row) for row in self._used[:points])
        draw.text((_LEFT, 6), f"GPUs in use of {nodes} nodes: light none, dark all; red: node down", fill=_INK)
        draw.text((4, _TOP), "node 0", fill=_INK)
        draw.text((4, map_bottom - 12), f"{nodes - 1}", fill=_INK)
        self._curves(draw, points, (_LEFT, map_bottom + _MIDDLE, WIDTH - _RIGHT, HEIGHT - _BOTTOM))
        draw.text((_LEFT, HEIGHT - 16), "0 h", fill=_INK)
        end = f"{self._times[points - 1] / 3600:.1f} h"
        draw.text((WIDTH - _RIGHT - 7 * len(end), HEIGHT - 16), end, fill=_INK)
        return np.asarray(image)

    def show(self) -> None:
        """In a window of matplotlib; in a notebook below the cell."""
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise RunError("render_mode='human' needs matplotlib: pip install matplotlib") from error
        if self._window is None:
            figure, axes = pyplot.subplots(figsize=(WIDTH / 100, HEIGHT / 100))
            figure.subplots_adjust(0, 0, 1, 1)
            axes.axis("off")
            self._window = (figure, axes.imshow(self.picture()))
        figure, shown = self._window
        shown.set_data(self.picture())
        figure.canvas.draw_idle()
        pyplot.pause(0.001)

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is None:
            return
        from matplotlib import pyplot

        pyplot.close(self._window[0])
        self._window = None

    def save_gif(self, path: str, frames: int) -> None:
        """`frames` pictures from the first step to the last."""
        if frames < 1:
            raise UsageError(f"frames must be >= 1, got {frames}")
        if not self._times:
            raise UsageError("nothing to draw: call reset first")
        points = np.unique(np.linspace(1, len(self._times), frames).astype(int))
        pictures = [self.picture(int(point)) for point in points if point > 0]
        from PIL import Image

        first, *rest = [Image.fromarray(picture) for picture in pictures]
        first.save(path, save_all=True, append_images=rest, duration=80, loop=0)

    def _columns(self, points: int, width: int) -> np.ndarray:
        """Which point each column of pixels shows: the last one at or before its time."""
        times = np.array(self._times[:points])
        at = np.linspace(times[0], max(times[-1], times[0] + 1e-9), width)
        return np.searchsorted(times, at, side="right") - 1

    def _heat_map(self, points: int, width: int, height: int):
        from PIL import Image

        nodes = max(len(row) for row in self._used[:points])
        table = np.full((points, nodes), np.nan)
        for k, row in enumerate(self._used[:points]):
            table[k, : len(row)] = row
        rows = np.minimum(np.arange(height) * nodes // height, nodes - 1)
        share = table[self._columns(points, width)][:, rows].T
        colour = _IDLE + np.nan_to_num(share)[..., None] * (_FULL - _IDLE)
        colour[np.isnan(share)] = _DOWN
        return Image.fromarray(colour.astype(np.uint8))

    def _curves(self, draw, points: int, box: tuple[int, int, int, int]) -> None:
        left, top, right, bottom = box
        columns = self._columns(points, right - left)
        for k, (values, colour, name) in enumerate(
            [(self._active, _QUEUE, "jobs in the system"), (self._done, _DONE, "jobs done")]
        ):
            heights = np.array(values[:points])[columns]
            most = max(int(heights.max()), 1)
            line = [(left + x, bottom - int((bottom - top) * y / most)) for x, y in enumerate(heights)]
            draw.line(line, fill=colour, width=2)
            draw.text((left + 190 * k, top - 16), f"{name}: {values[points - 1]} (most {most})", fill=colour)
        draw.line([(left, bottom), (right, bottom)], fill=_INK)
