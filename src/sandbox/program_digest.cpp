#include "sandbox/program_digest.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr const char* loader_cache = "/etc/ld.so.cache";

/// The dynamic loader of an ELF program; empty if it is linked statically, or no ELF program.
std::string loader_of(const fs::path& file) {
    std::string head(1U << 12U, '\0');
    const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t got = opened ? ::pread(opened.get(), head.data(), head.size(), 0) : -1;
    head.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    Elf64_Ehdr header{};
    if (!head.starts_with(ELFMAG) || head.size() < sizeof header) {
        return {};
    }
    std::memcpy(&header, head.data(), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr segment{};
        if (at > head.size() - sizeof segment) {
            return {};
        }
        std::memcpy(&segment, head.data() + at, sizeof segment);
        if (segment.p_type == PT_INTERP) {
            const std::string path = segment.p_offset < head.size()
                                         ? head.substr(segment.p_offset, segment.p_filesz)
                                         : std::string();
            return path.substr(0, path.find('\0'));
        }
    }
    return {};
}

/// The program's file, and those of the libraries that its loader finds for it.
std::vector<fs::path> files_of_program(const Context& ctx, const fs::path& file) {
    std::vector<fs::path> files{file};
    const std::string loader = loader_of(file);
    if (loader.empty()) {
        return files;
    }
    // What ldd(1) calls, which a small container may not have: "libz.so.1 => /lib/libz.so.1 (0x…)"
    ProcessRequest request;
    request.argv = {loader, "--list", file.string()};
    const ProcessResult result = run_process(ctx, request);
    if (result.status != 0) {
        throw error("{} cannot find the libraries of {}: {}", loader, file.string(),
                    trim_end(result.output));
    }
    for (const std::string_view word : words_of(result.output, " \t\n")) {
        if (word.starts_with('/') && !word.ends_with(':')) {
            files.emplace_back(word);
        }
    }
    return files;
}

FileState state_now(const fs::path& file) {
    return state_of(open_to_read(file).get(), file.string());
}

bool is_unchanged(const fs::path& file, const FileState& state) {
    try {
        return state_now(file) == state;
    } catch (const Error&) {
        return false;
    }
}

/// Whether a file that is written again now could keep its state: the kernel's clock for files
/// stands still for some milliseconds, and NFS's for a second.
bool is_fresh(const FileState& state) {
    constexpr std::int64_t settled = 2'000'000'000;
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return state.changed > now.count() - settled;
}

/// Digests of programs, each with the states of its files when they were read.
class KnownDigests {
public:
    /// Empty if there is none, or a file was changed.
    std::string find(const fs::path& program) {
        const std::lock_guard lock(mutex_);
        const auto found = known_.find(program);
        const bool same =
            found != known_.end() && std::ranges::all_of(found->second.files, [](const auto& file) {
                return is_unchanged(file.first, file.second);
            });
        return same ? found->second.digest : std::string();
    }
    /// Adds nothing if one of the files was changed just now.
    void add(const fs::path& program, std::vector<std::pair<fs::path, FileState>> files,
             const std::string& digest) {
        if (std::ranges::any_of(files, [](const auto& file) { return is_fresh(file.second); })) {
            return;
        }
        const std::lock_guard lock(mutex_);
        known_[program] = {std::move(files), digest};
    }

private:
    struct Known {
        std::vector<std::pair<fs::path, FileState>> files;
        std::string digest;
    };
    std::mutex mutex_;
    std::map<fs::path, Known> known_;
};

}  // namespace

std::string program_digest(const Context& ctx, const fs::path& file) {
    static KnownDigests known;
    if (file.empty()) {
        return {};
    }
    if (std::string digest = known.find(file); !digest.empty()) {
        return digest;
    }
    Sha256 digest;
    std::vector<std::pair<fs::path, FileState>> files;
    // By this file the loader finds libraries: another one may lead to others.
    std::error_code ignored;
    if (fs::exists(loader_cache, ignored)) {
        files.emplace_back(loader_cache, state_now(loader_cache));
    }
    for (const fs::path& one : files_of_program(ctx, file)) {
        files.emplace_back(one, state_now(one));
        digest.update_field(sha256_file(one));
    }
    std::string made = digest.hex();
    known.add(file, std::move(files), made);
    return made;
}

}  // namespace edgegpu
