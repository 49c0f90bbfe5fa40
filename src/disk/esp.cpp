#include "disk/esp.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/ext4/disk_write.hpp"
#include "disk/grub.hpp"
#include "disk/partitions.hpp"
#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

/// Everything that a boot loader installs, generously.
constexpr std::uint64_t esp_limit = 256ULL << 20U;
constexpr std::size_t esp_count_limit = 4096;
constexpr int esp_depth_limit = 16;
constexpr std::size_t esp_copy_block = 64U << 10U;
/// UEFI requires FAT32 of fixed disks, which needs 65,525 clusters.
constexpr std::uint64_t esp_least = 128 * mib;
/// What FAT can record.
constexpr std::int64_t fat_first = 315532800;
constexpr std::int64_t fat_last = 4354819198;

std::string folded(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char character) {
        return static_cast<char>(std::tolower(character));
    });
    return text;
}

/// mtools takes wildcards and "::" in names for its own; FAT has none of these characters.
bool is_fat_name(std::string_view name) {
    return name.size() <= 255 && !name.ends_with('.') && !name.ends_with(' ') &&
           std::ranges::all_of(name, [](unsigned char character) {
               return character > ' ' && character < 0x7f &&
                      std::string_view("\"*/:<>?\\|[]").find(static_cast<char>(character)) ==
                          std::string_view::npos;
           });
}

class EspReader {
public:
    EspReader(const CommitView& commit, std::string top) : commit_(commit), top_(std::move(top)) {}

    EspFiles read() {
        if (const std::optional<CommitNode> node = commit_.find(top_)) {
            read_directory(*node, "", 0);
        }
        return std::move(files_);
    }

private:
    void read_directory(const CommitNode& directory, const std::string& below, int depth) {
        const std::string path = below.empty() ? top_ : top_ + '/' + below;
        if (depth > esp_depth_limit || files_.size() > esp_count_limit) {
            throw error("{}: too many files or directories for an EFI system partition", top_);
        }
        std::set<std::string> names;
        for (const auto& [name, node] : commit_.list(directory, path)) {
            const std::string inner = below.empty() ? name : below + '/' + name;
            if (!is_fat_name(name) || !names.insert(folded(name)).second) {
                throw error("{}/{}: a FAT file system cannot have this name{}", top_, inner,
                            is_fat_name(name) ? " beside one that differs in case alone" : "");
            }
            if (node.directory) {
                read_directory(node, inner, depth + 1);
                continue;
            }
            std::optional<std::string> content =
                commit_.read(top_ + '/' + inner, esp_limit - bytes_);
            if (!content) {
                // GRUB's environment of RHEL 8 is a link; FAT has none.
                continue;
            }
            bytes_ += content->size();
            files_.emplace(inner, std::move(*content));
        }
    }

    const CommitView& commit_;
    std::string top_;
    std::uint64_t bytes_ = 0;
    EspFiles files_;
};

/// The path of `name` in `directory`, in whatever case.
std::string find_file(const EspFiles& files, const std::string& directory, std::string_view name) {
    const std::string wanted = folded(directory + '/' + std::string(name));
    for (const auto& [path, content] : files) {
        if (folded(path) == wanted) {
            return path;
        }
    }
    return {};
}

void add_fallback(EspFiles& files, const std::vector<std::string>& directories) {
    constexpr std::string_view place = "EFI/BOOT";
    if (!find_file(files, std::string(place), "BOOTX64.EFI").empty()) {
        return;
    }
    const auto copy = [&](const std::string& from, std::string_view name) {
        if (!from.empty()) {
            files.emplace(fmt::format("{}/{}", place, name), std::string(files.at(from)));
        }
    };
    for (const std::string& directory : directories) {
        const std::string shim = find_file(files, directory, "shimx64.efi");
        if (!shim.empty()) {
            copy(shim, "BOOTX64.EFI");
            copy(find_file(files, directory, "grubx64.efi"), "grubx64.efi");
            copy(find_file(files, directory, "mmx64.efi"), "mmx64.efi");
            return;
        }
    }
    for (const std::string& directory : directories) {
        if (const std::string grub = find_file(files, directory, "grubx64.efi"); !grub.empty()) {
            copy(grub, "BOOTX64.EFI");
            return;
        }
    }
}

/// The file system in the directory of EspStaging.
constexpr const char* fat_name = "fat";

/// Programs that work on a FAT file system, whose times are all `time`. They run in `directory` and
/// get names that are relative to it: mtools splits the name of a disk at "@@" and takes a
/// backslash for a slash, and the directory may have any name.
class EspTools {
public:
    EspTools(const Context& ctx, fs::path directory, std::int64_t time)
        : ctx_(ctx), directory_(std::move(directory)), time_(time) {}

    void run(std::vector<std::string> argv) const {
        ProcessRequest request;
        request.argv = std::move(argv);
        // Without PATH run_process looks where these programs are.
        request.env = {"LC_ALL=C.UTF-8", "TZ=UTC", "MTOOLSRC=/dev/null", "MTOOLS_SKIP_CHECK=1",
                       fmt::format("SOURCE_DATE_EPOCH={}", time_)};
        request.cwd = directory_;
        request.purpose = "EFI system partition";
        const ProcessResult result = run_process(ctx_, request);
        if (result.status != 0) {
            throw error("EFI system partition: {} failed: {}", request.argv.front(),
                        fmt::join(last_lines(result.output, 3), "; "));
        }
    }

private:
    const Context& ctx_;
    fs::path directory_;
    std::int64_t time_;
};

/// A directory of the builder for the files to copy, removed at the end.
class EspStaging {
public:
    explicit EspStaging(const fs::path& disk) : place_(disk.string() + ".esp") {}
    [[nodiscard]] const fs::path& path() const { return place_.path(); }
    /// Writes a file with a time.
    [[nodiscard]] fs::path put(std::string_view content, std::int64_t time) const {
        const fs::path file = place_ / "file";
        write_file(file, content);
        const std::array<timespec, 2> times{timespec{time, 0}, timespec{time, 0}};
        if (::utimensat(AT_FDCWD, file.c_str(), times.data(), 0) != 0) {
            throw errno_error(file.string(), errno);
        }
        return file.filename();
    }
    /// What the file system has in the file.
    [[nodiscard]] std::string get(const EspTools& tools, const std::string& path) const {
        fs::remove(place_ / "back");
        tools.run({"mcopy", "-n", "-i", fat_name, "::/" + path, "back"});
        return read_file(place_ / "back");
    }
    /// An empty file for the file system: mkfs.vfat takes its parameters from the size of the whole
    /// file, even if it is told to use a part.
    [[nodiscard]] fs::path make_empty(std::uint64_t size) const {
        fs::path file = place_ / fat_name;
        write_file(file, "");
        if (::truncate(file.c_str(), static_cast<off_t>(size)) != 0) {
            throw write_error(place_.path().parent_path().string(), file.string(), errno);
        }
        return file;
    }

private:
    TemporaryDirectory place_;
};

/// Copies what is not zero to `offset` of the disk, which has zeros there.
void copy_into(const fs::path& disk, std::uint64_t offset, const fs::path& from) {
    const Fd source = open_to_read(from);
    const Fd target = open_file(disk, O_WRONLY);
    std::uint64_t at = offset;
    each_piece(source.get(), from.string(), [&](std::string_view piece) {
        for (; !piece.empty(); piece.remove_prefix(std::min(piece.size(), esp_copy_block))) {
            const std::string_view block = piece.substr(0, esp_copy_block);
            if (block.find_first_not_of('\0') != std::string_view::npos) {
                write_to_disk(target.get(), block, at, disk);
            }
            at += block.size();
        }
    });
}

}  // namespace

EspFiles esp_files(const CommitView& commit, const BootLoaders& loaders,
                   const std::string& boot_uuid) {
    EspFiles files = EspReader(commit, loaders.efi).read();
    add_fallback(files, loaders.grub_directories);
    const std::string stub = esp_grub_cfg(boot_uuid);
    for (const std::string& directory : loaders.grub_directories) {
        // The packages' own, if there is one, knows no disk.
        const std::string theirs = find_file(files, directory, "grub.cfg");
        files[theirs.empty() ? directory + "/grub.cfg" : theirs] = stub;
    }
    return files;
}

std::uint64_t esp_size(const EspFiles& files) {
    std::uint64_t bytes = 0;
    for (const auto& [path, content] : files) {
        bytes += content.size();
    }
    const std::uint64_t wanted = (3 * bytes + mib - 1) / mib * mib;
    return std::max(esp_least, wanted);
}

void write_esp(const Context& ctx, const fs::path& disk, const Partition& esp,
               const EspFiles& files, std::int64_t time) {
    const std::int64_t fat_time = std::clamp(time, fat_first, fat_last);
    const EspStaging staging(disk);
    const EspTools tools(ctx, staging.path(), fat_time);
    const fs::path fat = staging.make_empty(esp.size);
    std::string id = esp.file_system_uuid;
    std::erase(id, '-');
    // --invariant has a number of its own, which -i replaces. Hidden sectors are those before the
    // partition.
    tools.run({"mkfs.vfat", "--invariant", "-F", "32", "-S", std::to_string(sector_size), "-i", id,
               "-n", "EFI", "-h", std::to_string(esp.offset / sector_size), fat_name});
    std::set<std::string> directories;
    for (const auto& [path, content] : files) {
        ctx.check_cancelled();
        for (std::size_t slash = path.find('/'); slash != std::string::npos;
             slash = path.find('/', slash + 1)) {
            if (directories.insert(path.substr(0, slash)).second) {
                tools.run({"mmd", "-i", fat_name, "::/" + path.substr(0, slash)});
            }
        }
        const fs::path file = staging.put(content, fat_time);
        tools.run({"mcopy", "-m", "-n", "-i", fat_name, file.string(), "::/" + path});
    }
    for (const auto& [path, content] : files) {
        ctx.check_cancelled();
        if (staging.get(tools, path) != content) {
            throw error("EFI system partition: mcopy wrote {} with another content", path)
                .hinted("the machine could not be started from it: mtools 4.0 is tested");
        }
    }
    copy_into(disk, esp.offset, fat);
}

}  // namespace edgegpu
