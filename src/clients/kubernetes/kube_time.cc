#include "clients/kubernetes/kube_time.h"

#include "core/calendar.h"

namespace allot {

std::string KubeTimeText(std::int64_t seconds) {
  std::string text = FormatCalendar(seconds);
  text[text.find(' ')] = 'T';
  return text + "Z";
}

}  // namespace allot
