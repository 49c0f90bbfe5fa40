#include "commit/index.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/file_lock.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"
#include "support/text/text.hpp"

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

/// Calls `use` with key and checksum of each intact line, which are views into `text`.
template <typename Use>
void read_lines(std::string_view text, Use use) {
    for (const std::string_view line : lines_of(text)) {
        if (line.size() + 1 == line_size && line.substr(line.size() - crc_size) ==
                                                crc_text(line.substr(0, key_size + 1 + hex_size))) {
            use(line.substr(0, key_size), line.substr(key_size + 1, hex_size));
        }
    }
}

/// Opens the file, creates it if absent, and waits for its lock. Who waited may have locked a file
/// that was replaced meanwhile (`compact`), and tries again.
Fd open_locked(const Context& ctx, const std::filesystem::path& path) {
    for (;;) {
        Fd file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
        struct stat named {};
        if (!file) {
            throw errno_error(path.string(), errno);
        }
        wait_for_lock(ctx, file.get(), path, "is writing the checksums of objects");
        const struct stat own = status_of(file.get(), path.string());
        if (::stat(path.c_str(), &named) == 0 && named.st_dev == own.st_dev &&
            named.st_ino == own.st_ino) {
            return file;
        }
    }
}

/// Whether a killed build left an incomplete line at the end.
bool ends_incomplete(int file, const std::string& name) {
    const std::uint64_t size = state_of(file, name).size;
    char last = '\n';
    if (size != 0 && ::pread(file, &last, 1, static_cast<off_t>(size - 1)) < 0) {
        throw errno_error(name, errno);
    }
    return last != '\n';
}

}  // namespace

ObjectIndex::ObjectIndex(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code code;
    if (!std::filesystem::exists(path_, code)) {
        return;
    }
    text_ = read_file(path_);
    known_.reserve(text_.size() / line_size + 1);
    read_lines(text_, [&](std::string_view key, std::string_view checksum) {
        known_.insert_or_assign(key, Known{checksum, false});
    });
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

void ObjectIndex::compact(const Context& ctx) {
    const Fd file = open_locked(ctx, path_);
    std::vector<std::string> lines = std::move(added_);
    added_.clear();
    for (const auto& [key, known] : known_) {
        if (known.used) {
            lines.push_back(line_of(key, known.checksum));
        }
    }
    // What this build did not know is from another build, which needs it soon.
    const std::string text = read_file(file.get(), path_.string());
    read_lines(text, [&](std::string_view key, std::string_view checksum) {
        if (!known_.contains(key)) {
            lines.push_back(line_of(key, checksum));
        }
    });
    std::ranges::sort(lines);
    // Not std::ranges::unique: clang 14 cannot compile that of GCC 12.
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    write_file(path_, sum_of(lines));
}

void ObjectIndex::append(const Context& ctx) {
    // Sorted, so that the file does not depend on the order of threads.
    std::ranges::sort(added_);
    const Fd file = open_locked(ctx, path_);
    const std::string all =
        (ends_incomplete(file.get(), path_.string()) ? "\n" : "") + sum_of(added_);
    added_.clear();
    if (!write_all(file.get(), all)) {
        throw write_error(path_.parent_path().string(), path_.string(), errno);
    }
}

void ObjectIndex::save(const Context& ctx) {
    const auto used = static_cast<std::size_t>(
        std::ranges::count_if(known_, [](const auto& item) { return item.second.used; }));
    if (known_.size() > always_kept && known_.size() > 4 * (used + added_.size())) {
        compact(ctx);
    } else if (!added_.empty()) {
        append(ctx);
    }
}

}  // namespace edgegpu
