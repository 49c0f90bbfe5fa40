#include "blueprint/sources/source_directory.hpp"

#include <cerrno>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/files/directory.hpp"
#include "support/files/file.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t longest_name = 4095;

class Walk {
public:
    Walk(bool open_files, const std::function<void(const SourceObject&)>& visit,
         const SourceRefusal& refuse, const std::function<bool(const Error&)>& goes_on)
        : open_files_(open_files), visit_(visit), refuse_(refuse), goes_on_(goes_on) {}

    /// `prefix`: name of the directory and a slash, or empty.
    void directory(const Fd& opened, const std::string& prefix) {
        for (const std::string& name : names(opened, prefix)) {
            const Fd inside = object_or_none(opened.get(), name, prefix + name);
            if (inside) {
                directory(inside, prefix + name + "/");
            }
        }
    }

private:
    [[nodiscard]] Error failure(const std::string& name, int code) const {
        return refuse_(name, std::generic_category().message(code));
    }

    [[nodiscard]] std::vector<std::string> names(const Fd& opened,
                                                 const std::string& prefix) const {
        std::optional<std::vector<std::string>> found =
            names_in(Fd(::openat(opened.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
        if (!found) {
            throw failure(prefix, errno);
        }
        return *std::move(found);
    }

    [[nodiscard]] Fd object_or_none(int parent, const std::string& leaf,
                                    const std::string& name) const {
        try {
            return object(parent, leaf, name);
        } catch (const Error& refused) {
            if (!goes_on_ || !goes_on_(refused)) {
                throw;
            }
            return {};
        }
    }

    /// Visits one object. Returns a descriptor if it is a directory.
    [[nodiscard]] Fd object(int parent, const std::string& leaf, const std::string& name) const {
        if (name.size() > longest_name) {
            throw refuse_(name, "is longer than 4095 bytes");
        }
        const Fd at(::openat(parent, leaf.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat status {};
        if (!at || ::fstat(at.get(), &status) != 0) {
            throw failure(name, errno);
        }
        SourceObject found;
        found.name = name;
        found.mode = status.st_mode;
        Fd inside;
        Fd file;
        if (S_ISLNK(status.st_mode)) {
            found.target = target_of(at, name);
        } else if (S_ISDIR(status.st_mode)) {
            inside = Fd(::openat(at.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            if (!inside) {
                throw failure(name, errno);
            }
        } else if (S_ISREG(status.st_mode)) {
            if (is_made_by_kernel(at.get())) {
                throw refuse_(name, "is not a stored file: the kernel makes its content");
            }
            const std::string path = path_of_descriptor(at.get());
            found.size = static_cast<std::uint64_t>(status.st_size);
            found.has_capabilities =
                ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
            if (open_files_) {
                file = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
                if (!file) {
                    throw failure(name, errno);
                }
                found.file = file.get();
            }
        } else {
            throw refuse_(name, fmt::format("is {}", kind_of(status.st_mode)))
                .hinted(unfit_kind_hint());
        }
        visit_(found);
        return inside;
    }

    [[nodiscard]] std::string target_of(const Fd& link, const std::string& name) const {
        std::string target(longest_name + 2, '\0');
        const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
        if (size < 0) {
            throw failure(name, errno);
        }
        target.resize(static_cast<std::size_t>(size));
        return target;
    }

    bool open_files_;
    const std::function<void(const SourceObject&)>& visit_;
    const SourceRefusal& refuse_;
    const std::function<bool(const Error&)>& goes_on_;
};

}  // namespace

void walk_source(const std::filesystem::path& top, bool open_files,
                 const std::function<void(const SourceObject&)>& visit, const SourceRefusal& refuse,
                 const std::function<bool(const Error&)>& goes_on) {
    const Fd opened(::open(top.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) {
        throw refuse("", std::generic_category().message(errno));
    }
    Walk(open_files, visit, refuse, goes_on).directory(opened, "");
}

std::string source_head(int file, const std::string& name) {
    constexpr std::size_t first = 8192;
    constexpr std::size_t large = 64U << 10U;
    std::string head = read_beginning(file, name, first);
    const bool text = head.find('\0') == std::string::npos;
    return head.size() < first || (!text && state_of(file, name).size > large)
               ? head
               : read_beginning(file, name, largest_head);
}

std::string source_head(const std::filesystem::path& path) {
    const Fd place = open_file(path, O_PATH);
    return source_head(open_regular(place.get(), path.string()).get(), path.string());
}

std::string unfit_kind_hint() {
    return "an image carries files, directories and symbolic links; devices and fifos are made at "
           "boot, by udev or tmpfiles.d";
}

}  // namespace edgegpu
