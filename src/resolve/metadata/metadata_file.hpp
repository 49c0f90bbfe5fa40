#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace edgegpu {

/// The decompressed content of an XML metadata file, as the stream that libsolv reads: compressed
/// with gzip, xz, bzip2 or zstd, or plain, recognised by its content. It is decompressed while it
/// is read, up to the size that repomd.xml declares (`open_size`; 0: none), to 2 GiB, and to 100
/// times the compressed size (and 16 MiB).
class MetadataStream {
public:
    /// Throws ErrorKind::fetch naming repository and file if it cannot be opened or decompressed,
    /// is a zchunk file, or has an encoding that must not reach a parser (xml_problem).
    MetadataStream(const std::string& repository, const std::filesystem::path& path,
                   std::uint64_t open_size);
    ~MetadataStream();
    MetadataStream(const MetadataStream&) = delete;
    MetadataStream& operator=(const MetadataStream&) = delete;

    [[nodiscard]] FILE* get() const noexcept;
    /// Throws ErrorKind::fetch if the content that has been read is not the whole one, since it is
    /// damaged, truncated or too large. The reader saw the end of the file there, and may have been
    /// content with it: to be called before anything that it returned is used.
    void check() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The decompressed content of a metadata file that need not be XML, at most 256 MiB, with the same
/// limits. Throws ErrorKind::fetch naming repository and file.
[[nodiscard]] std::string read_metadata_file(const std::string& repository,
                                             const std::filesystem::path& path,
                                             std::uint64_t open_size);

}  // namespace edgegpu
