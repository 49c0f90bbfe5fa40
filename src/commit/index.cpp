#include "commit/index.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text.hpp"

namespace edgegpu {
namespace {

constexpr std::size_t hex_size = 64;
// hexadecimal digits: digest of the content, half the digest of the header
constexpr std::size_t key_size = 96;
constexpr std::size_t crc_size = 8;
// "KEY CHECKSUM CRC\n"
constexpr std::size_t line_size = key_size + 1 + hex_size + 1 + crc_size + 1;
constexpr std::size_t always_kept = 200000;

std::string crc_text(std::string_view body) {
    return fmt::format("{:08x}", libdeflate_crc32(0, body.data(), body.size()));
}

std::string line_of(std::string_view key, std::string_view checksum) {
    const std::string body = fmt::format("{} {}", key, checksum);
    return fmt::format("{} {}\n", body, crc_text(body));
}

}  // namespace

ObjectIndex::ObjectIndex(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code code;
    if (!std::filesystem::exists(path_, code)) {
        return;
    }
    text_ = read_file(path_);
    known_.reserve(text_.size() / line_size + 1);
    const std::string_view text = text_;
    for (const std::string_view line : lines_of(text)) {
        if (line.size() + 1 != line_size) {
            continue;
        }
        if (line.substr(line.size() - crc_size) ==
            crc_text(line.substr(0, key_size + 1 + hex_size))) {
            known_.insert_or_assign(line.substr(0, key_size),
                                    Known{line.substr(key_size + 1, hex_size), false});
        }
    }
}

std::string ObjectIndex::key(std::string_view digest, std::string_view header_digest) {
    // 128 bits of the second digest are enough.
    return fmt::format("{}{}", digest, header_digest.substr(0, key_size - hex_size));
}

std::string_view ObjectIndex::find(const std::string& key) const {
    const auto found = known_.find(key);
    if (found == known_.end()) {
        return {};
    }
    const std::lock_guard lock(mutex_);
    found->second.used = true;
    return found->second.checksum;
}

void ObjectIndex::add(const std::string& key, const std::string& checksum) {
    const std::lock_guard lock(mutex_);
    added_.push_back(line_of(key, checksum));
}

void ObjectIndex::compact() {
    std::vector<std::string> lines = std::move(added_);
    for (const auto& [key, known] : known_) {
        if (known.used) {
            lines.push_back(line_of(key, known.checksum));
        }
    }
    std::ranges::sort(lines);
    std::string all;
    for (const std::string& line : lines) {
        all += line;
    }
    write_file(path_, all);
}

void ObjectIndex::save() {
    const auto used = static_cast<std::size_t>(
        std::ranges::count_if(known_, [](const auto& item) { return item.second.used; }));
    if (known_.size() > always_kept && known_.size() > 4 * (used + added_.size())) {
        compact();
        return;
    }
    if (added_.empty()) {
        return;
    }
    // Sorted, so that the file does not depend on the order of threads.
    std::ranges::sort(added_);
    // Ends an incomplete line of a killed build.
    std::string all = text_.empty() || text_.back() == '\n' ? "" : "\n";
    for (const std::string& line : added_) {
        all += line;
    }
    added_.clear();
    const Fd file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
    if (!file || ::flock(file.get(), LOCK_EX) != 0) {
        throw errno_error(path_.string(), errno);
    }
    std::string_view rest = all;
    while (!rest.empty()) {
        const ssize_t put = ::write(file.get(), rest.data(), rest.size());
        if (put < 0 && errno != EINTR) {
            throw write_error(path_.parent_path().string(), path_.string(), errno);
        }
        rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
    }
}

}  // namespace edgegpu
