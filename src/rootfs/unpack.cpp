#include "rootfs/unpack.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <rpm/rpmarchive.h>
#include <rpm/rpmpgp.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "image/capabilities.hpp"
#include "rootfs/declared_size.hpp"
#include "rootfs/manifest.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

void check_package_path(const std::string& package, const std::string& path) {
    const auto refuse = [&](const char* why) {
        return error("package {}: {} {}", package, path.empty() ? "an empty path" : path, why)
            .hinted("the package is corrupt or malicious; nothing of it was installed");
    };
    if (path.empty() || path.front() != '/') {
        throw refuse("is not absolute");
    }
    if (path == "/") {
        return;
    }
    std::string_view rest(path);
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        const std::string_view part = rest.substr(0, slash);
        if (part == "..") {
            throw refuse("leaves the root (\"..\")");
        }
        if (part.empty() || part == "." || part.size() > 255) {
            throw refuse("is not a normal path");
        }
        rest.remove_prefix(slash);
    }
}

namespace {

constexpr std::uint64_t longest_link = 4096;

/// An import in progress: its directory, and the header's file list.
struct Import {
    std::string name;
    fs::path directory;
    std::vector<ImportedFile> files;
    DeclaredSize size;
    /// per file: whether its content was extracted
    std::vector<bool> done;
};

EntryType entry_type(const std::string& package, const std::string& path, mode_t mode) {
    if (S_ISDIR(mode)) {
        return EntryType::directory;
    }
    if (S_ISREG(mode)) {
        return EntryType::file;
    }
    if (S_ISLNK(mode)) {
        return EntryType::symlink;
    }
    throw error("package {}: {} is a device, fifo or socket, which an ostree commit cannot contain",
                package, path);
}

/// File `index` as the header describes it. The digest is set only if it is a SHA-256; others are
/// not checked, since the digest of the RPM was.
ImportedFile describe_file(const std::string& package, rpmfiles files, int index) {
    ImportedFile file;
    const Handle<char, std::free> path(rpmfilesFN(files, index));
    file.path = text_of(path.get());
    check_package_path(package, file.path);
    file.flags = rpmfilesFFlags(files, index);
    file.user = text_of(rpmfilesFUser(files, index));
    file.group = text_of(rpmfilesFGroup(files, index));
    const mode_t mode = rpmfilesFMode(files, index);
    file.entry.mode = mode & 07777U;
    if (file.is_ghost() && !S_ISDIR(mode) && !S_ISREG(mode) && !S_ISLNK(mode)) {
        return file;
    }
    file.entry.type = entry_type(package, file.path, mode);
    if (file.entry.type == EntryType::symlink) {
        file.entry.target = text_of(rpmfilesFLink(files, index));
        file.entry.mode = 0777;
        if (file.entry.target.empty() && !file.is_ghost()) {
            throw error("package {}: the link {} has no target", package, file.path);
        }
        // librpm reads so much of the archive into memory.
        if (rpmfilesFSize(files, index) > longest_link) {
            throw error("package {}: the link {} is longer than a path can be", package, file.path);
        }
    } else if (file.entry.type == EntryType::file) {
        file.entry.size = rpmfilesFSize(files, index);
        int algorithm = 0;
        std::size_t length = 0;
        const unsigned char* digest = rpmfilesFDigest(files, index, &algorithm, &length);
        if (digest != nullptr && algorithm == PGPHASHALGO_SHA256 && length == 32) {
            file.entry.digest = hexadecimal({reinterpret_cast<const char*>(digest), length});
        }
        try {
            file.entry.capabilities = parse_capabilities(text_of(rpmfilesFCaps(files, index)));
        } catch (Error& problem) {
            throw error("package {}: {}: {}", package, file.path, problem.message());
        }
    }
    return file;
}

void set_metadata(int fd, const Entry& entry, const fs::path& path) {
    // The image's root, which is no user of the machine. First, as chown drops set-id bits and
    // capabilities.
    if (::fchown(fd, 0, 0) != 0) {
        throw errno_error(path.string(), errno);
    }
    if (!entry.capabilities.empty() &&
        ::fsetxattr(fd, "security.capability", entry.capabilities.data(), entry.capabilities.size(),
                    0) != 0) {
        throw errno_error(path.string() + ": file capabilities", errno)
            .hinted("put the cache (--cache-dir) on a file system with security attributes");
    }
    // ostree stores no modification times, but programs copy them: dracut writes them into the
    // initramfs. One fixed time, older than everything made later, like that of ostree's checkouts.
    constexpr struct timespec unpacked = {unpacked_time, 0};
    const std::array<struct timespec, 2> times = {unpacked, unpacked};
    if (::fchmod(fd, entry.mode) != 0 || ::futimens(fd, times.data()) != 0) {
        throw errno_error(path.string(), errno);
    }
}

/// Extracts the content of the iterator's current file to `path`, and compares its size and digest
/// with the header.
void extract_file(const Context& ctx, const std::string& package, rpmfi iterator,
                  ImportedFile& file, const fs::path& path) {
    const Fd output(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!output) {
        throw errno_error(path.string(), errno);
    }
    Sha256 digest;
    std::vector<char> buffer(std::min<std::uint64_t>(file.entry.size + 1, 256UL * 1024UL));
    std::uint64_t left = file.entry.size;
    while (left > 0) {
        ctx.check_cancelled();
        const std::size_t want = std::min<std::uint64_t>(left, buffer.size());
        const ssize_t got = rpmfiArchiveRead(iterator, buffer.data(), want);
        if (got <= 0) {
            throw error("package {}: payload is truncated at {}", package, file.path);
        }
        digest.update(buffer.data(), static_cast<std::size_t>(got));
        if (!write_all(output.get(), {buffer.data(), static_cast<std::size_t>(got)})) {
            throw errno_error(fmt::format("package {}: {}", package, path.string()), errno);
        }
        left -= static_cast<std::uint64_t>(got);
    }
    if (rpmfiArchiveRead(iterator, buffer.data(), 1) > 0) {
        throw error("package {}: {} is larger than the {} bytes its header names", package,
                    file.path, file.entry.size);
    }
    const std::string actual = digest.hex();
    if (!file.entry.digest.empty() && file.entry.digest != actual) {
        throw error("package {}: {} does not match the digest in its header", package, file.path)
            .traced("expected sha256:" + file.entry.digest)
            .traced("got      sha256:" + actual);
    }
    file.entry.digest = actual;
    file.entry.content = path;
    set_metadata(output.get(), file.entry, path);
}

/// Sets the content of all hard links of file `index`, which was just extracted.
void share_content(Import& import, rpmfiles files, int index) {
    const int* members = nullptr;
    const std::uint32_t count = rpmfilesFLinks(files, index, &members);
    const Entry& source = import.files[static_cast<std::size_t>(index)].entry;
    for (std::uint32_t i = 0; i < count && members != nullptr; ++i) {
        const auto member = static_cast<std::size_t>(members[i]);
        if (member >= import.files.size()) {
            throw error("package {}: hard links are damaged", import.name);
        }
        Entry& entry = import.files[member].entry;
        if (entry.type != EntryType::file || entry.size != source.size) {
            throw error("package {}: {} is a hard link to something else", import.name,
                        import.files[member].path);
        }
        entry.digest = source.digest;
        entry.content = source.content;
        import.done[member] = true;
    }
    import.done[static_cast<std::size_t>(index)] = true;
}

/// Opens the payload, decompressed, at the position of `rpm`. Throws Error for an unsupported
/// format or compressor.
RpmFd open_payload(const std::string& package, FD_t rpm, Header header) {
    const std::string format = header_string(header, RPMTAG_PAYLOADFORMAT);
    std::string compressor = header_string(header, RPMTAG_PAYLOADCOMPRESSOR);
    if (compressor.empty()) {
        compressor = "gzip";
    }
    static constexpr std::array<std::string_view, 5> known{"gzip", "bzip2", "xz", "lzma", "zstd"};
    if ((!format.empty() && format != "cpio") ||
        std::find(known.begin(), known.end(), compressor) == known.end()) {
        throw error("package {}: payload {} compressed with {} is not supported", package, format,
                    compressor);
    }
    RpmFd payload(Fdopen(fdDup(Fileno(rpm)), ("r." + compressor).c_str()));
    if (!payload || Ferror(payload.get()) != 0) {
        throw error("package {}: the payload ({}) cannot be read", package, compressor);
    }
    return payload;
}

void extract_payload(const Context& ctx, Import& import, rpmfiles files, FD_t payload) {
    const RpmFileIterator iterator(
        rpmfiNewArchiveReader(payload, files, RPMFI_ITER_READ_ARCHIVE_CONTENT_FIRST));
    if (!iterator) {
        throw error("package {}: the payload cannot be read", import.name);
    }
    std::size_t number = 0;
    int status = 0;
    while ((status = rpmfiNext(iterator.get())) >= 0) {
        ctx.check_cancelled();
        check_archive_size(import.name, import.size, payload);
        const int index = rpmfiFX(iterator.get());
        ImportedFile& file = import.files.at(static_cast<std::size_t>(index));
        if (file.entry.type == EntryType::file && !file.is_ghost() &&
            !import.done[static_cast<std::size_t>(index)] &&
            rpmfiArchiveHasContent(iterator.get()) != 0) {
            extract_file(ctx, import.name, iterator.get(), file,
                         import.directory / "files" / std::to_string(number++));
            share_content(import, files, index);
        }
    }
    for (std::size_t i = 0; i < import.files.size(); ++i) {
        const ImportedFile& file = import.files[i];
        if (file.entry.type == EntryType::file && !file.is_ghost() && !import.done[i]) {
            const Handle<char, std::free> why(rpmfileStrerror(status));
            throw error("package {}: payload is truncated: {} is missing", import.name, file.path)
                .traced(status == RPMERR_ITER_END ? "the archive ends before it"
                                                  : text_of(why.get()));
        }
    }
    check_archive_size(import.name, import.size, payload);
    // Also detects an archive that is truncated behind the last regular file.
    if (status != RPMERR_ITER_END) {
        const Handle<char, std::free> why(rpmfileStrerror(status));
        throw error("package {}: payload is truncated or damaged", import.name)
            .traced(text_of(why.get()));
    }
}

}  // namespace

void unpack_package(const Context& ctx, const PackageFile& package, const fs::path& directory,
                    const fs::path& final_directory) {
    Import import;
    import.name = package.package.nevra.text();
    import.directory = directory;
    const RpmTransaction transaction = make_transaction();
    const RpmFd rpm(Fopen(package.content->path().c_str(), "r.ufdio"));
    if (!rpm || Ferror(rpm.get()) != 0) {
        throw errno_error(package.content->shown(), errno);
    }
    const RpmHeader header = read_rpm_header(transaction.get(), rpm.get(), import.name);
    const RpmFiles files(rpmfilesNew(nullptr, header.get(), RPMTAG_BASENAMES, RPMFI_KEEPHEADER));
    if (!files) {
        throw error("package {}: the header's file list is damaged", import.name);
    }
    make_directories(directory / "files");
    const auto count = static_cast<int>(rpmfilesFC(files.get()));
    for (int i = 0; i < count; ++i) {
        import.files.push_back(describe_file(import.name, files.get(), i));
    }
    import.done.assign(import.files.size(), false);
    import.size = declared_size(import.files, files.get());
    check_declared_size(ctx, import.name, import.size, header.get(), package.content->size());
    if (count > 0) {
        const RpmFd payload = open_payload(import.name, rpm.get(), header.get());
        extract_payload(ctx, import, files.get(), payload.get());
    }
    write_file(directory / "header", export_header(header.get()), 0600);
    for (ImportedFile& file : import.files) {
        if (!file.entry.content.empty()) {
            file.entry.content = final_directory / file.entry.content.lexically_relative(directory);
        }
    }
    write_file(directory / "manifest", format_manifest(import.files, final_directory), 0600);
}

}  // namespace edgegpu
