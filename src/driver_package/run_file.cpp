#include "driver_package/run_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/tar_reader.hpp"
#include "support/files/unpack_limit.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// The script of 570 and 590 has 70 to 300 KiB, with the program that decompresses.
constexpr std::size_t most_script = 16U << 20U;
constexpr std::size_t piece_size = 1U << 20U;
/// Drivers of 2025 unpack to four times their size.
constexpr std::uint64_t most_ratio = 20;
constexpr std::uint64_t small_driver = 1ULL << 30U;
constexpr std::size_t most_files = 100'000;
/// makeself sums up what follows the lines with the sums.
constexpr std::size_t lines_before_sum = 3;

constexpr const char* whole_file =
    "download the run file again, and compare its checksum with NVIDIA's";

/// What the script at the beginning of a run file says.
struct Script {
    /// Where the archive begins, and what the MD5 is of.
    std::size_t archive = 0;
    std::size_t summed = 0;
    std::string md5;
};

Error not_a_run_file(const std::string& name) {
    return error(ErrorKind::usage, "{}: not a run file of NVIDIA's driver", name)
        .hinted("NVIDIA-Linux-x86_64-VERSION.run, or …-grid.run for a guest with a virtual GPU");
}

/// Where line `number`, counted from 1, begins; npos if there are fewer.
std::size_t begin_of_line(std::string_view text, std::size_t number) {
    std::size_t begin = 0;
    for (std::size_t line = 1; line < number && begin != std::string_view::npos; ++line) {
        begin = text.find('\n', begin);
        begin += begin == std::string_view::npos ? 0 : 1;
    }
    return begin;
}

/// The value of "KEY=VALUE" among the first lines, or empty.
std::string_view assigned(std::string_view script, std::string_view key) {
    constexpr std::size_t assignments = 12;
    for (std::size_t i = 0; i < assignments; ++i) {
        const std::string_view line = take_line(script);
        if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) {
            return line.substr(key.size() + 1);
        }
    }
    return {};
}

Script read_script(std::string_view beginning, const std::string& name) {
    Script script;
    std::size_t skip = 0;
    const std::string_view number = assigned(beginning, "skip");
    std::from_chars(number.data(), number.data() + number.size(), skip);
    if (!beginning.starts_with("#!") || skip == 0) {
        throw not_a_run_file(name);
    }
    script.archive = begin_of_line(beginning, skip);
    script.summed = begin_of_line(beginning, lines_before_sum + 1);
    if (script.archive >= beginning.size()) {
        throw error(ErrorKind::usage, "{}: truncated: it has no line {}, where its archive begins",
                    name, skip)
            .hinted(whole_file);
    }
    const std::string_view md5 = assigned(beginning, "MD5");
    // Of one without a sum, it is zeros.
    if (md5.find_first_not_of('0') != std::string_view::npos) {
        script.md5 = md5;
    }
    return script;
}

/// What of `bytes`, which begin at `done` of the file, lies at `begin` or after it.
std::string_view part_from(std::size_t begin, std::size_t done, std::string_view bytes) {
    return bytes.substr(std::min(bytes.size(), begin > done ? begin - done : 0));
}

/// Copies the archive to `archive` and compares the sum. Returns the SHA-256 of the whole file.
std::string take_archive(const Context& ctx, int file, const Script& script,
                         const fs::path& archive, const std::string& name) {
    const Fd out(::open(archive.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!out) {
        throw errno_error(archive.string(), errno);
    }
    const Handle<GChecksum, g_checksum_free> md5(g_checksum_new(G_CHECKSUM_MD5));
    Sha256 sha256;
    std::string piece(piece_size, '\0');
    for (std::size_t done = 0;;) {
        ctx.check_cancelled();
        const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw errno_error(name, errno);
        }
        if (got == 0) {
            break;
        }
        const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
        sha256.update(bytes);
        const std::string_view summed = part_from(script.summed, done, bytes);
        g_checksum_update(md5.get(), reinterpret_cast<const guchar*>(summed.data()),
                          static_cast<gssize>(summed.size()));
        if (!write_all(out.get(), part_from(script.archive, done, bytes))) {
            throw errno_error(archive.string(), errno);
        }
        done += bytes.size();
    }
    const std::string_view sum = g_checksum_get_string(md5.get());
    if (!script.md5.empty() && sum != script.md5) {
        throw error(ErrorKind::usage, "{}: damaged: its MD5 is {}, and the file says {}", name, sum,
                    script.md5)
            .hinted(whole_file);
    }
    return sha256.hex();
}

/// "./kernel/nv.c" → "kernel/nv.c"; of a directory, without the slash. Throws Error for a name that
/// leaves the directory.
std::string member_path(const std::string& member, const std::string& name) {
    std::string path = fs::path(member).lexically_normal().string();
    path = trim_end(path, "/");
    const auto parts = split(path, '/');
    if (path.empty() || path.front() == '/' || std::ranges::find(parts, "..") != parts.end()) {
        throw error(ErrorKind::usage, "{}: its archive has \"{}\", which leaves it", name, member);
    }
    return path;
}

void unpack_member(TarReader& reader, const fs::path& path) {
    make_directories(path.parent_path());
    const Fd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!out) {
        throw errno_error(path.string(), errno);
    }
    reader.read([&](const char* data, std::size_t size) {
        if (!write_all(out.get(), {data, size})) {
            throw errno_error(path.string(), errno);
        }
    });
}

}  // namespace

UnpackedRunFile unpack_run_file(const Context& ctx, const fs::path& file,
                                const fs::path& directory) {
    const std::string name = file.string();
    const Fd source(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!source) {
        throw Error(ErrorKind::usage, errno_error(name, errno).message());
    }
    struct stat status {};
    if (::fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw not_a_run_file(name);
    }
    const Script script = read_script(read_beginning(source.get(), name, most_script), name);
    const fs::path archive = directory.parent_path() / (directory.filename().string() + ".tar");
    UnpackedRunFile unpacked;
    if (script.md5.empty()) {
        ctx.console->warn(fmt::format(
            "{}: it has no MD5 by which damage could be found: compare its SHA-256 with NVIDIA's",
            name));
    }
    unpacked.sha256 = take_archive(ctx, source.get(), script, archive, name);
    TarReader reader({archive, fmt::format("the archive of {}", name), whole_file, ErrorKind::usage,
                      most_unpacked(fs::file_size(archive), small_driver, most_ratio)});
    TarMember member;
    while (reader.next(member)) {
        ctx.check_cancelled();
        if (member.type == S_IFDIR) {
            continue;
        }
        const std::string path = member_path(member.name, name);
        if (member.type != S_IFREG || !member.linked.empty()) {
            throw error(ErrorKind::usage, "{}: its archive has {}, which is no file", name, path);
        }
        if (!unpacked.paths.insert(path).second || unpacked.paths.size() > most_files) {
            throw error(ErrorKind::usage, "{}: its archive has {} twice, or too many files", name,
                        path);
        }
        for (fs::path above = fs::path(path).parent_path(); !above.empty();
             above = above.parent_path()) {
            if (unpacked.paths.contains(above.string())) {
                throw error(ErrorKind::usage, "{}: its archive has {} below a file", name, path);
            }
        }
        unpack_member(reader, directory / path);
        if (path == ".manifest") {
            unpacked.time = member.modified;
        }
    }
    fs::remove(archive);
    if (!unpacked.paths.contains(".manifest")) {
        throw not_a_run_file(name);
    }
    return unpacked;
}

}  // namespace edgegpu
