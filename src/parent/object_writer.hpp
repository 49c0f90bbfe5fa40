#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <ostree.h>

#include "execution/context.hpp"
#include "support/error.hpp"
#include "support/glib.hpp"

namespace edgegpu {

/// What a file object is besides its content.
struct FileHeader {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// permission bits (07777)
    unsigned mode = 0;
    /// links: the target; empty for a regular file
    std::string target;
    /// regular files: of the content, in bytes
    std::uint64_t size = 0;
    /// a(ayay), as ostree has them in the object; null: none
    GVariant* attributes = nullptr;
};

/// Gives a content in pieces to its argument.
using ContentSource = std::function<void(const std::function<void(const char*, std::size_t)>&)>;

/// Writes objects into a repository of the cache, in a transaction that is undone unless it is
/// committed. Errors name the image that the objects are of, and the object.
class ObjectWriter {
public:
    /// Makes the repository (bare-user) if there is none at `place`. `called` is the image.
    ObjectWriter(const Context& ctx, const std::filesystem::path& place, std::string called);
    ObjectWriter(const ObjectWriter&) = delete;
    ObjectWriter& operator=(const ObjectWriter&) = delete;
    ~ObjectWriter();

    /// Writes a commit, dirtree or dirmeta. Throws Error if it has another checksum than
    /// `expected`, unless that is empty. Returns its checksum.
    std::string add_metadata(OstreeObjectType type, const std::string& expected, GVariant* object);
    /// The same for a file or link; `content` of a link is not called.
    std::string add_file(const std::string& expected, const FileHeader& header,
                         const ContentSource& content);
    /// A commit's detached metadata, a{sv}.
    void add_detached(const std::string& commit, GVariant* metadata);
    void commit();

    [[nodiscard]] OstreeRepo* repo() const noexcept { return repo_.get(); }
    /// The Error for what cannot be written; `what` names it.
    [[nodiscard]] Error written(const GlibFailure& failure, const std::string& what) const;

private:
    std::string cache_;
    std::string called_;
    RepoHandle repo_;
    bool open_ = true;
};

}  // namespace edgegpu
