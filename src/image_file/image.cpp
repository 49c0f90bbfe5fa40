#include "image_file/image.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/volumes.hpp"
#include "image_file/bmap.hpp"
#include "image_file/cloud_check.hpp"
#include "image_file/encryption_check.hpp"
#include "image_file/provenance.hpp"
#include "installer/installer.hpp"
#include "signing/gpg_signature.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/output.hpp"
#include "support/handles.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t digest_piece = 1U << 20U;

fs::path beside(const fs::path& output, std::string_view suffix) {
    return output.string() + std::string(suffix);
}

void require_free_names(const ImageRequest& request) {
    for (const char* suffix : {"", ".sha256", ".json", ".bmap", ".asc"}) {
        const fs::path path = beside(request.output, suffix);
        std::error_code failure;
        const fs::file_status status = fs::symlink_status(path, failure);
        if (!fs::status_known(status)) {
            throw errno_error(path.string(), failure.value()).hinted("name a file with --output");
        }
        if (fs::is_directory(status)) {
            throw error(ErrorKind::usage, "{}: is a directory", path.string())
                .hinted("name a file with --output");
        }
        if (fs::is_symlink(status) && request.replace) {
            throw error(ErrorKind::usage, "{}: is a symbolic link, which --force does not replace",
                        path.string())
                .hinted("remove it, or name another file with --output");
        }
        if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_symlink(status)) {
            throw error(ErrorKind::usage, "{}: is not a file", path.string())
                .hinted("write an image first, and then to a disk: bmaptool copy IMAGE DEVICE");
        }
        if (fs::exists(status) && !request.replace) {
            throw error(ErrorKind::usage, "{}: exists already", path.string())
                .hinted("--force replaces it, --output names another file");
        }
    }
}

/// Size and SHA-256 of a file.
std::pair<std::uint64_t, std::string> digest_of(const Context& ctx, const fs::path& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        throw errno_error(path.string(), errno);
    }
    const auto total = static_cast<std::uint64_t>(status.st_size);
    Sha256 digest;
    std::string piece(digest_piece, '\0');
    std::uint64_t done = 0;
    // Where the next bytes are that are not in a hole, which need not be read.
    std::uint64_t data = 0;
    while (true) {
        ctx.check_cancelled();
        if (done >= data) {
            const off_t next = ::lseek(file.get(), static_cast<off_t>(done), SEEK_DATA);
            data = next >= 0 ? static_cast<std::uint64_t>(next) : errno == ENXIO ? total : done;
        }
        ssize_t count = 0;
        if (data - std::min(data, done) >= piece.size()) {
            std::ranges::fill(piece, '\0');
            count = static_cast<ssize_t>(piece.size());
        } else {
            count = ::pread(file.get(), piece.data(), piece.size(), static_cast<off_t>(done));
        }
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw errno_error(path.string(), errno);
        }
        if (count == 0) {
            return {done, digest.hex()};
        }
        digest.update(piece.data(), static_cast<std::size_t>(count));
        done += static_cast<std::uint64_t>(count);
        if (ctx.console != nullptr) {
            ctx.console->progress(done >> 20U, total >> 20U, "MiB");
        }
    }
}

void warn_of_unused_mount_points(const Context& ctx, const CommitView& commit,
                                 const std::vector<Volume>& volumes) {
    const std::vector<std::string> unused = unused_mount_points(volumes, commit);
    if (!unused.empty() && ctx.console != nullptr) {
        ctx.console->warn(fmt::format(
            "the commit has {}, and the disk no file system for it: devices find it empty and "
            "read-only; --blueprint names the blueprint with that file system",
            fmt::join(unused, ", ")));
    }
}

/// The steps of write_image, each a stage.
class ImageWriter {
public:
    ImageWriter(const Context& ctx, Stages& stages, const RepositoryView& repository,
                const CommitView& commit, const ImageRequest& request)
        : ctx_(ctx),
          stages_(stages),
          repository_(repository),
          commit_(commit),
          request_(request),
          unfinished_(request.output),
          current_(unfinished_.file("disk.raw")) {}

    Image write() {
        warn_of_unused_mount_points(ctx_, commit_, request_.disk.volumes);
        if (request_.type == ImageType::installer_iso) {
            write_iso_image();
        } else {
            write_raw();
            if (is_raw(request_.type)) {
                map_blocks();
            }
            if (!is_raw(request_.type)) {
                convert();
            }
        }
        if (request_.compression == ImageCompression::zstd) {
            compress();
        }
        digest();
        if (request_.key) {
            sign();
        }
        publish_all();
        return std::move(image_);
    }

private:
    void write_raw() {
        stages_.begin("disk", "writing a disk with");
        image_.disk = write_disk(ctx_, repository_, commit_, request_.disk, current_);
        stages_.end(fmt::format("{}, {} partitions", human_size(image_.disk.size),
                                image_.disk.partitions.size()));
    }
    void write_iso_image() {
        stages_.begin("installer", "writing an installation medium with");
        InstallerRequest installer;
        installer.disk = request_.disk;
        installer.target = request_.target;
        installer.unsigned_commit = request_.unsigned_commit;
        current_ = unfinished_.file("installer.iso");
        image_.disk = write_installer(ctx_, repository_, commit_, installer, current_).disk;
        stages_.end(human_size(fs::file_size(current_)));
    }
    void replace_current(const std::string& name) {
        fs::remove(current_);
        current_ = unfinished_.file(name);
    }
    void convert() {
        stages_.begin("convert", "converting the disk of");
        // A VMDK has its own name in it.
        const std::string name = fmt::format("disk.{}", request_.type);
        convert_disk(ctx_, current_,
                     {request_.type, request_.compression == ImageCompression::clusters,
                      commit_.info().checksum, commit_.info().time},
                     unfinished_.file(name));
        replace_current(name);
        stages_.end(
            fmt::format("{}, {}", enum_name(request_.type), human_size(fs::file_size(current_))));
    }
    void compress() {
        stages_.begin("compress", "compressing the disk of");
        compress_disk(ctx_, current_, unfinished_.file("disk.zst"));
        replace_current("disk.zst");
        stages_.end(human_size(fs::file_size(current_)));
    }
    void digest() {
        stages_.begin("digest", "reading the disk of");
        std::tie(image_.size, image_.sha256) = digest_of(ctx_, current_);
        stages_.end(image_.sha256.substr(0, 12));
    }
    void map_blocks() {
        stages_.begin("block map", "reading the disk of");
        write_file(unfinished_.file("bmap"), block_map(ctx_, current_, image_.disk));
        stages_.end("");
    }
    void sign() {
        stages_.begin("sign", "signing the disk of");
        try {
            write_file(unfinished_.file("asc"),
                       make_gpg_file_signature(request_.key->id, request_.key->homedir, current_));
        } catch (const Error&) {
            // ^C ends GnuPG as well.
            ctx_.check_cancelled();
            throw;
        }
        stages_.end(request_.key->id);
    }
    /// A file beside the image, or nothing of that name.
    void publish_beside(const std::string& name) {
        const fs::path target = beside(request_.output, '.' + name);
        if (fs::exists(unfinished_.file(name))) {
            publish(unfinished_.file(name), target, existing());
        } else if (::unlink(target.c_str()) != 0 && errno != ENOENT) {
            throw errno_error(target.string(), errno);
        }
    }
    void publish_all() {
        const fs::path& output = request_.output;
        image_.provenance = image_provenance(image_, commit_.info(), request_);
        write_file(unfinished_.file("json"), image_.provenance);
        write_file(unfinished_.file("sha256"),
                   fmt::format("{}  {}\n", image_.sha256, output.filename().string()));
        ctx_.check_cancelled();
        for (const char* name : {"sha256", "json", "bmap", "asc"}) {
            publish_beside(name);
        }
        if (!request_.disk.injection.empty()) {
            // What belongs to one machine may be secret: keys, passwords of networks.
            fs::permissions(current_, fs::perms::owner_read | fs::perms::owner_write);
        }
        publish(current_, output, existing());
    }
    [[nodiscard]] Existing existing() const {
        return request_.replace ? Existing::replace : Existing::refuse;
    }

    const Context& ctx_;
    Stages& stages_;
    const RepositoryView& repository_;
    const CommitView& commit_;
    const ImageRequest& request_;
    Unfinished unfinished_;
    fs::path current_;
    Image image_;
};

}  // namespace

Image write_image(const Context& ctx, Stages& stages, const RepositoryView& repository,
                  const CommitView& commit, const ImageRequest& request) {
    require_free_names(request);
    if (request.key) {
        // Better now than when everything else is done.
        static_cast<void>(make_trial_signature(request.key->id, request.key->homedir));
    }
    if (request.type == ImageType::ami) {
        check_for_ec2(ctx, commit, request.disk);
    }
    if (request.disk.encryption != Encryption::none) {
        check_for_encryption(commit, request.disk.kernel_arguments);
    }
    try {
        return ImageWriter(ctx, stages, repository, commit, request).write();
    } catch (Error& failure) {
        hint_at_full_disk(failure);
        throw;
    }
}

}  // namespace edgegpu
