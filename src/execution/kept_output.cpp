#include "execution/kept_output.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace edgegpu {

void KeptOutput::append(std::string_view bytes) {
    total_ += bytes.size();
    const std::size_t first = std::min<std::size_t>(bytes.size(), half_ - head_.size());
    head_ += bytes.substr(0, first);
    tail_ += bytes.substr(first);
    if (tail_.size() > 2 * half_) {
        tail_.erase(0, tail_.size() - half_);
    }
}

std::string KeptOutput::text() const {
    std::string_view end = tail_;
    end.remove_prefix(end.size() > half_ ? end.size() - half_ : 0);
    if (head_.size() + end.size() == total_) {
        return std::string(head_).append(end);
    }
    std::string_view begin = head_;
    begin.remove_suffix(begin.size() - (begin.rfind('\n') + 1));
    end.remove_prefix(std::min(end.find('\n'), end.size() - 1) + 1);
    return fmt::format("{}[{} bytes are left out here]\n{}", begin,
                       total_ - begin.size() - end.size(), end);
}

}  // namespace edgegpu
