#include "cache/stored_file.hpp"

#include <cerrno>
#include <functional>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/last_use.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

fs::path content_path(const Context& ctx, const std::string& digest) {
    return ctx.cache / "content" / digest.substr(0, 2) / digest.substr(2);
}

namespace {

Error changed(const std::string& name) {
    return error("{} changed while it was read", name)
        .hinted("build again when nothing writes to it");
}

/// Reads the first `size` bytes of a file in pieces; throws if it ends earlier.
void read_pieces(const Context& ctx, int file, const std::string& name, std::uint64_t size,
                 const std::function<void(std::string_view)>& use) {
    const auto take = [&](std::string_view piece) {
        ctx.check_cancelled();
        use(piece);
    };
    if (each_piece(file, name, take, {0, size}) != size) {
        throw changed(name);
    }
}

/// A file of `content/` that has no name yet, which will be its digest.
class NewContent {
public:
    explicit NewContent(const Context& ctx)
        : path_((ctx.cache / "content" / ".new-XXXXXX").string()) {
        make_directories(ctx.cache / "content");
        file_ = Fd(::mkostemp(path_.data(), O_CLOEXEC));
        if (!file_) {
            throw errno_error(path_, errno);
        }
    }
    NewContent(const NewContent&) = delete;
    NewContent& operator=(const NewContent&) = delete;
    ~NewContent() {
        if (!path_.empty()) {
            ::unlink(path_.c_str());
        }
    }

    void write(std::string_view piece) {
        digest_.update(piece);
        if (!write_all(file_.get(), piece)) {
            throw errno_error(path_, errno);
        }
        size_ += piece.size();
    }
    /// Gives it its name. A file that has got the name meanwhile keeps it, as another build may be
    /// linking to it: link(2) fails with ENOENT on a file that a rename takes the name from.
    std::string keep(const Context& ctx) {
        std::string digest = digest_.hex();
        const fs::path target = content_path(ctx, digest);
        make_directories(target.parent_path());
        if (::link(path_.c_str(), target.c_str()) == 0 ||
            (errno == EEXIST && is_file_of_size(target, size_))) {
            return digest;
        }
        if (errno != EEXIST || ::rename(path_.c_str(), target.c_str()) != 0) {
            throw errno_error(target.string(), errno);
        }
        path_.clear();
        return digest;
    }

private:
    std::string path_;
    Fd file_;
    Sha256 digest_;
    std::uint64_t size_ = 0;
};

}  // namespace

StoredFile store_file(const Context& ctx, int file, const std::string& name) {
    const FileState before = state_of(file, name);
    // Most builds find everything in the cache: they read, and write nothing.
    Sha256 digest;
    read_pieces(ctx, file, name, before.size,
                [&](std::string_view piece) { digest.update(piece); });
    StoredFile result{{}, digest.hex(), before.size};
    if (!mark_used(ctx, content_path(ctx, result.digest)) ||
        !is_file_of_size(content_path(ctx, result.digest), before.size)) {
        NewContent made(ctx);
        read_pieces(ctx, file, name, before.size,
                    [&](std::string_view piece) { made.write(piece); });
        result.digest = made.keep(ctx);
    }
    result.path = content_path(ctx, result.digest);
    char beyond = 0;
    if (state_of(file, name) != before ||
        ::pread(file, &beyond, 1, static_cast<off_t>(before.size)) > 0) {
        throw changed(name);
    }
    return result;
}

StoredFile store_file(const Context& ctx, const fs::path& path) {
    const Fd place = open_file(path, O_PATH | O_NOFOLLOW);
    const Fd file = open_regular(place.get(), path.string());
    return store_file(ctx, file.get(), path.string());
}

}  // namespace edgegpu
