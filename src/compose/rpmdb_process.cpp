#include "compose/rpmdb_process.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <rpm/rpmcallback.h>
#include <rpm/rpmdb.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmmacro.h>
#include <rpm/rpmpgp.h>
#include <rpm/rpmprob.h>
#include <rpm/rpmts.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "rootfs/rpm_header.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Its first argument; the second is the directory. Standard input has a line for each package:
/// the number of its descriptor, a blank, its NEVRA.
constexpr std::string_view process_mark = "--write-rpmdb";

using HeaderIterator = Handle<rpmdbMatchIterator_s, rpmdbFreeIterator>;

/// An RPM by its descriptor.
struct Element {
    fs::path path;
    std::string name;
};

/// Defines the macros that librpm would take from the builder's configuration.
void define_macros(const fs::path& directory) {
    for (const auto& [name, value] :
         {std::pair<const char*, std::string>{"_dbpath", directory.string()},
          {"_db_backend", "sqlite"},
          {"_rpmlock_path", (directory / ".rpm.lock").string()},
          {"_tmppath", directory.string()}}) {
        rpmPushMacro(nullptr, name, nullptr, value.c_str(), RMIL_CMDLINE);
    }
}

std::vector<Element> read_elements(std::istream& input) {
    std::vector<Element> elements;
    int descriptor = -1;
    for (Element element; input >> descriptor && std::getline(input >> std::ws, element.name);) {
        element.path = path_of_descriptor(descriptor);
        elements.push_back(std::move(element));
        element = {};
    }
    return elements;
}

/// The RPM that librpm has open through `on_event`: it reads the header of each element again.
struct OpenPackage {
    FD_t fd = nullptr;
};

void* on_event(const void* /*header*/, rpmCallbackType what, rpm_loff_t /*amount*/,
               rpm_loff_t /*total*/, fnpyKey key, rpmCallbackData data) noexcept {
    auto& open = *static_cast<OpenPackage*>(data);
    if (what == RPMCALLBACK_INST_OPEN_FILE) {
        open.fd = Fopen(static_cast<const Element*>(key)->path.c_str(), "r.ufdio");
        return open.fd;
    }
    if (what == RPMCALLBACK_INST_CLOSE_FILE && open.fd != nullptr) {
        Fclose(open.fd);
        open.fd = nullptr;
    }
    return nullptr;
}

void install(rpmts transaction, const std::vector<Element>& elements) {
    rpmtsSetFlags(transaction, RPMTRANS_FLAG_JUSTDB | RPMTRANS_FLAG_NOSCRIPTS |
                                   RPMTRANS_FLAG_NOTRIGGERS | RPMTRANS_FLAG_NOPLUGINS |
                                   RPMTRANS_FLAG_NOFILEDIGEST);
    OpenPackage open;
    rpmtsSetNotifyCallback(transaction, on_event, &open);
    for (const Element& element : elements) {
        const RpmFd file(Fopen(element.path.c_str(), "r.ufdio"));
        const RpmHeader header = read_rpm_header(transaction, file.get(), element.name);
        if (rpmtsAddInstallElement(transaction, header.get(), &element, 0, nullptr) != 0) {
            throw error("package {}: librpm does not accept it", element.name);
        }
    }
    const auto everything = static_cast<rpmprobFilterFlags>(~0U);
    if (rpmtsRun(transaction, nullptr, everything) != 0) {
        throw Error("librpm cannot write the image's package database");
    }
}

/// Writes the headers as they are in the database, with the time of installation.
void export_headers(rpmts transaction, const fs::path& file, std::size_t expected) {
    constexpr std::string_view magic("\x8e\xad\xe8\x01\0\0\0\0", 8);
    std::string text;
    std::size_t count = 0;
    const HeaderIterator iterator(rpmtsInitIterator(transaction, RPMDBI_PACKAGES, nullptr, 0));
    while (const Header header = rpmdbNextIterator(iterator.get())) {
        text.append(magic).append(export_header(header));
        ++count;
    }
    if (count != expected) {
        throw error("librpm wrote {} of {} packages to the image's package database", count,
                    expected);
    }
    write_file(file, text, 0600);
}

/// Changes the file format's version numbers from 2 (write-ahead log) to 1 (legacy), as PRAGMA
/// journal_mode=DELETE does: a database in WAL mode cannot be read on a read-only /usr. Offsets 18
/// and 19 of the header: https://www.sqlite.org/fileformat.html.
void leave_wal_mode(const fs::path& database) {
    const Fd file(::open(database.c_str(), O_RDWR | O_CLOEXEC));
    std::array<char, 16> magic{};
    if (!file ||
        ::pread(file.get(), magic.data(), magic.size(), 0) != static_cast<ssize_t>(magic.size()) ||
        std::string_view(magic.data(), magic.size()) != std::string_view("SQLite format 3\0", 16)) {
        throw error("{}: librpm did not write an SQLite database", database.string());
    }
    constexpr std::array<char, 2> legacy{1, 1};
    if (::pwrite(file.get(), legacy.data(), legacy.size(), 18) != 2) {
        throw errno_error(database.string(), errno);
    }
}

/// Throws if the write-ahead log still has changes.
void check_checkpointed(const fs::path& scratch) {
    std::error_code code;
    const auto left = fs::file_size(scratch / "rpmdb.sqlite-wal", code);
    if (!code && left > 0) {
        throw error("{}: librpm left {} bytes outside of the database", scratch.string(), left);
    }
}

void write_both(const fs::path& scratch, const std::vector<Element>& elements) {
    rpmInitCrypto();
    define_macros(scratch);
    {
        const RpmTransaction transaction = make_transaction();
        install(transaction.get(), elements);
        export_headers(transaction.get(), scratch / headers_name, elements.size());
    }
    check_checkpointed(scratch);
    leave_wal_mode(scratch / sqlite_database);
}

/// What the process needs of the environment: where its libraries are, and how sanitizers behave.
std::vector<std::string> inherited_variables() {
    std::vector<std::string> kept;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        if (text.starts_with("LD_") || text.find("SAN_OPTIONS=") != std::string_view::npos) {
            kept.emplace_back(text);
        }
    }
    return kept;
}

}  // namespace

void run_rpmdb_process(const Context& ctx, const std::vector<ImportedPackage>& packages,
                       const fs::path& scratch) {
    ProcessRequest request;
    request.argv = {"/proc/self/exe", std::string(process_mark), scratch.string()};
    request.purpose = "the image's package database";
    request.env = inherited_variables();
    for (std::string variable : {std::string("LC_ALL=C"), std::string("TZ=UTC"),
                                 // The installation time that librpm records.
                                 fmt::format("SOURCE_DATE_EPOCH={}", ctx.source_date_epoch),
                                 // What a build that is killed leaves of SQLite's temporary files
                                 // is removed with the slot.
                                 "SQLITE_TMPDIR=" + scratch.string()}) {
        request.env.push_back(std::move(variable));
    }
    for (const ImportedPackage& package : packages) {
        request.input += fmt::format("{} {}\n", package.rpm->descriptor(), package.nevra.text());
        request.descriptors.push_back(package.rpm->descriptor());
    }
    const ProcessResult result = run_process(ctx, request);
    if (result.status == 0) {
        return;
    }
    std::vector<std::string> lines = last_lines(result.output, 20);
    Error failure(lines.empty() ? fmt::format("librpm ended with status {} while it wrote the "
                                              "image's package database",
                                              result.status)
                                : lines.back());
    if (!lines.empty()) {
        lines.pop_back();
    }
    for (std::string& line : lines) {
        failure.traced(std::move(line));
    }
    throw failure;
}

std::optional<int> serve_as_rpmdb_process(int argc, char** argv) {
    if (argc != 3 || argv[1] != process_mark) {
        return std::nullopt;
    }
    try {
        write_both(argv[2], read_elements(std::cin));
        return 0;
    } catch (const std::exception& failure) {
        std::fputs(fmt::format("{}\n", failure.what()).c_str(), stderr);
        return 1;
    }
}

}  // namespace edgegpu
