#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include <archive.h>
#include <archive_entry.h>

#include "support/handles.hpp"

namespace edgegpu {

/// Mode and owner of a member of a tar archive.
struct TarAttributes {
    /// permission bits (07777)
    unsigned mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// time of modification, Unix time
    std::int64_t time = 0;
    /// Extended attributes, name → value; of TarFormat::pax alone.
    std::vector<std::pair<std::string, std::string>> extended{};
};

enum class TarFormat {
    /// GNU's: long names in members of their own, large numbers in base 256. Importers of ostree's
    /// container format read owners from the header alone.
    gnu,
    /// POSIX's, with extended attributes as "SCHILY.xattr.NAME", which container engines read.
    pax
};

/// Writes a tar archive without names of owners. Paths are relative; all of them are bytes. The
/// same calls give the same bytes. Members throw Error, and what `sink` throws.
class TarWriter {
public:
    /// Receives the pieces of the archive, in order.
    using Sink = std::function<void(std::string_view)>;
    explicit TarWriter(Sink sink, TarFormat format = TarFormat::gnu);
    TarWriter(const TarWriter&) = delete;
    TarWriter& operator=(const TarWriter&) = delete;
    ~TarWriter() = default;

    void directory(const std::string& path, const TarAttributes& attributes);
    void symlink(const std::string& path, const TarAttributes& attributes,
                 const std::string& target);
    /// A hard link to an earlier member, or to a member of an earlier layer of an image.
    void hard_link(const std::string& path, const TarAttributes& attributes,
                   const std::string& target);
    void file(const std::string& path, const TarAttributes& attributes, std::string_view content);
    /// A file whose `size` bytes follow with `data`. The next member, or `finish`, throws Error if
    /// these were fewer or more.
    void begin_file(const std::string& path, const TarAttributes& attributes, std::uint64_t size);
    void data(std::string_view bytes);
    /// Ends the archive. Without it, the archive is incomplete.
    void finish();

private:
    [[nodiscard]] archive_entry* fresh(const std::string& path, const TarAttributes& attributes,
                                       unsigned type);
    void put(archive_entry* entry);
    void check(int result, std::string_view what);
    void check_whole() const;
    static la_ssize_t pass_on(archive* /*archive*/, void* self, const void* data,
                              std::size_t size) noexcept;

    Sink sink_;
    std::exception_ptr thrown_;
    std::string path_;
    std::uint64_t missing_ = 0;
    Handle<archive_entry, archive_entry_free> entry_;
    Handle<archive, archive_write_free> archive_;
};

}  // namespace edgegpu
