#include "kmods/package.hpp"

#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <rpm/header.h>
#include <rpm/rpmds.h>
#include <rpm/rpmfiles.h>
#include <rpm/rpmpgp.h>
#include <rpm/rpmtag.h>
#include <sys/stat.h>

#include "rootfs/rpm_header.hpp"
#include "support/error.hpp"
#include "support/files/cpio_archive.hpp"
#include "support/files/digest.hpp"
#include "support/ranges.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

using namespace std::string_view_literals;

/// Precedes the exported blob of a header in an RPM file.
constexpr std::string_view header_magic = "\x8e\xad\xe8\x01\0\0\0\0"sv;

/// Arrays of the header's file list.
struct FileColumns {
    std::vector<const char*> names;
    std::vector<std::string> directories;
    std::vector<std::uint32_t> directory_of;
    std::vector<std::uint32_t> sizes;
    std::vector<std::string> digests;
};

/// The directory with a trailing slash, and the name.
std::pair<std::string, const char*> split_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return {path.substr(0, slash + 1), path.c_str() + slash + 1};
}

FileColumns file_columns(const MadePackage& package) {
    FileColumns columns;
    for (const auto& [path, content] : package.files) {
        if (content.size() > std::numeric_limits<std::uint32_t>::max()) {
            throw error("{}: too large for a package", path);
        }
        const auto [directory, name] = split_path(path);
        if (columns.directories.empty() || columns.directories.back() != directory) {
            columns.directories.push_back(directory);
        }
        columns.names.push_back(name);
        columns.directory_of.push_back(static_cast<std::uint32_t>(columns.directories.size() - 1));
        columns.sizes.push_back(static_cast<std::uint32_t>(content.size()));
        columns.digests.push_back(sha256_hex(content));
    }
    return columns;
}

void put_texts(Header header, rpmTagVal tag, const std::vector<std::string>& values) {
    std::vector<const char*> pointers =
        mapped(values, [](const std::string& value) { return value.c_str(); });
    headerPutStringArray(header, tag, pointers.data(), static_cast<rpm_count_t>(pointers.size()));
}

void put_numbers(Header header, rpmTagVal tag, const std::vector<std::uint32_t>& values) {
    headerPutUint32(header, tag, values.data(), static_cast<rpm_count_t>(values.size()));
}

void put_shorts(Header header, rpmTagVal tag, const std::vector<std::uint16_t>& values) {
    headerPutUint16(header, tag, values.data(), static_cast<rpm_count_t>(values.size()));
}

void put_files(Header header, const MadePackage& package) {
    const FileColumns columns = file_columns(package);
    const std::size_t count = columns.names.size();
    headerPutStringArray(header, RPMTAG_BASENAMES, const_cast<const char**>(columns.names.data()),
                         static_cast<rpm_count_t>(count));
    put_texts(header, RPMTAG_DIRNAMES, columns.directories);
    put_numbers(header, RPMTAG_DIRINDEXES, columns.directory_of);
    put_numbers(header, RPMTAG_FILESIZES, columns.sizes);
    put_texts(header, RPMTAG_FILEDIGESTS, columns.digests);
    put_numbers(header, RPMTAG_FILEDIGESTALGO, {PGPHASHALGO_SHA256});
    put_shorts(header, RPMTAG_FILEMODES, std::vector<std::uint16_t>(count, S_IFREG | 0644));
    put_shorts(header, RPMTAG_FILERDEVS, std::vector<std::uint16_t>(count, 0));
    put_numbers(header, RPMTAG_FILEMTIMES,
                std::vector<std::uint32_t>(count, static_cast<std::uint32_t>(package.build_time)));
    put_numbers(header, RPMTAG_FILEFLAGS, std::vector<std::uint32_t>(count, 0));
    put_numbers(header, RPMTAG_FILEVERIFYFLAGS, std::vector<std::uint32_t>(count, ~0U));
    put_numbers(header, RPMTAG_FILEDEVICES, std::vector<std::uint32_t>(count, 1));
    std::vector<std::uint32_t> inodes;
    for (std::size_t i = 0; i < count; ++i) {
        inodes.push_back(static_cast<std::uint32_t>(i + 1));
    }
    put_numbers(header, RPMTAG_FILEINODES, inodes);
    put_texts(header, RPMTAG_FILEUSERNAME, std::vector<std::string>(count, "root"));
    put_texts(header, RPMTAG_FILEGROUPNAME, std::vector<std::string>(count, "root"));
    put_texts(header, RPMTAG_FILELINKTOS, std::vector<std::string>(count));
    put_texts(header, RPMTAG_FILELANGS, std::vector<std::string>(count));
}

void put_provides(Header header, const MadePackage& package) {
    std::vector<std::string> names{package.nevra.name};
    std::vector<std::string> versions{package.nevra.evr()};
    for (const auto& [name, version] : package.provides) {
        names.push_back(name);
        versions.push_back(version);
    }
    put_texts(header, RPMTAG_PROVIDENAME, names);
    put_texts(header, RPMTAG_PROVIDEVERSION, versions);
    put_numbers(header, RPMTAG_PROVIDEFLAGS,
                std::vector<std::uint32_t>(names.size(), RPMSENSE_EQUAL));
}

/// The header with an immutable region, like those of rpmbuild.
RpmHeader make_header(const MadePackage& package) {
    RpmHeader header(headerNew());
    Header h = header.get();
    const Nevra& nevra = package.nevra;
    put_texts(h, RPMTAG_HEADERI18NTABLE, {"C"});
    headerPutString(h, RPMTAG_NAME, nevra.name.c_str());
    headerPutString(h, RPMTAG_VERSION, nevra.version.c_str());
    headerPutString(h, RPMTAG_RELEASE, nevra.release.c_str());
    put_numbers(h, RPMTAG_EPOCH, {nevra.epoch});
    headerPutString(h, RPMTAG_ARCH, nevra.arch.c_str());
    headerPutString(h, RPMTAG_OS, "linux");
    headerPutString(h, RPMTAG_LICENSE, package.license.c_str());
    headerPutString(h, RPMTAG_BUILDHOST, "localhost");
    headerAddI18NString(h, RPMTAG_SUMMARY, package.summary.c_str(), "C");
    headerAddI18NString(h, RPMTAG_DESCRIPTION, package.summary.c_str(), "C");
    headerAddI18NString(h, RPMTAG_GROUP, "Unspecified", "C");
    // Without this tag librpm takes the file for a source package.
    headerPutString(
        h, RPMTAG_SOURCERPM,
        fmt::format("{}-{}-{}.src.rpm", nevra.name, nevra.version, nevra.release).c_str());
    put_numbers(h, RPMTAG_BUILDTIME, {static_cast<std::uint32_t>(package.build_time)});
    std::uint64_t size = 0;
    for (const auto& [path, content] : package.files) {
        size += content.size();
    }
    if (size > std::numeric_limits<std::uint32_t>::max()) {
        throw error("{}: too large for a package", nevra.text());
    }
    put_numbers(h, RPMTAG_SIZE, {static_cast<std::uint32_t>(size)});
    headerPutString(h, RPMTAG_PAYLOADFORMAT, "cpio");
    headerPutString(h, RPMTAG_PAYLOADCOMPRESSOR, "gzip");
    headerPutString(h, RPMTAG_PAYLOADFLAGS, "1");
    put_provides(h, package);
    put_files(h, package);
    header.reset(headerReload(header.release(), RPMTAG_HEADERIMMUTABLE));
    if (!header) {
        throw error("librpm cannot make the header of {}", nevra.text());
    }
    return header;
}

/// The files as a cpio archive, format newc, compressed with gzip.
std::string make_payload(const MadePackage& package) {
    std::vector<CpioEntry> entries;
    for (const auto& [path, content] : package.files) {
        entries.push_back({"." + path, S_IFREG | 0644, content});
    }
    return cpio_archive("the payload of " + package.nevra.text(), entries, package.build_time,
                        CpioFilter::gzip);
}

/// The lead (rpm's docs/manual/format.md), obsolete except for its magic number.
std::string make_lead(const Nevra& nevra) {
    std::string lead("\xed\xab\xee\xdb\x03\0\0\0\0\x01"sv);
    lead += fmt::format("{}-{}-{}", nevra.name, nevra.version, nevra.release).substr(0, 65);
    lead.resize(76, '\0');
    lead += "\0\x01\0\x05"sv;
    lead.resize(96, '\0');
    return lead;
}

}  // namespace

std::string make_rpm(const MadePackage& package) {
    if (package.files.empty()) {
        throw error("{}: a package without files", package.nevra.text());
    }
    const RpmHeader header = make_header(package);
    const std::string body = std::string(header_magic) + export_header(header.get());
    RpmHeader signature(headerNew());
    // No size tags: librpm would copy them into the rpmdb, and the payload's size depends on the
    // compressor.
    headerPutString(signature.get(), RPMTAG_SHA256HEADER, sha256_hex(body).c_str());
    signature.reset(headerReload(signature.release(), RPMTAG_HEADERSIGNATURES));
    if (!signature) {
        throw error("librpm cannot make the header of {}", package.nevra.text());
    }
    std::string out = make_lead(package.nevra);
    out += header_magic;
    out += export_header(signature.get());
    out.append((8 - out.size() % 8) % 8, '\0');
    out += body;
    out += make_payload(package);
    return out;
}

}  // namespace edgegpu
