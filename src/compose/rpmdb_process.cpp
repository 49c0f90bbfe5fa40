#include "compose/rpmdb_process.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <istream>
#include <sstream>
#include <string_view>
#include <utility>

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

#include "execution/child_call.hpp"
#include "rootfs/rpm_header.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

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

/// Of lines with the number of a descriptor, a blank, and a NEVRA.
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

/// The file of headers of the parent's database, in the directory of the new one.
constexpr const char* installed_name = "installed";
/// Precedes each of them: its length, so many digits.
constexpr std::size_t length_digits = 10;

/// Puts the headers in `file` into the database as they are; returns their number.
std::size_t import_installed(rpmts transaction, const fs::path& file) {
    const std::string text = read_file(file, 4ULL << 30U);
    const Handle<rpmtxn_s, rpmtxnEnd> lock(text.empty() ? nullptr
                                                        : rpmtxnBegin(transaction, RPMTXN_WRITE));
    if (!lock && !text.empty()) {
        throw Error("librpm cannot write the image's package database");
    }
    std::string_view rest(text);
    std::size_t count = 0;
    while (!rest.empty()) {
        const std::size_t size =
            whole_number<std::size_t>(trim(rest.substr(0, length_digits))).value_or(0);
        rest.remove_prefix(std::min(length_digits, rest.size()));
        const RpmHeader header =
            load_header(std::string(rest.substr(0, size)), "of the parent's database");
        rest.remove_prefix(std::min(size, rest.size()));
        if (rpmtsImportHeader(lock.get(), header.get(), 0) != RPMRC_OK) {
            throw error("package {} of the parent: librpm does not put it into a new database",
                        header_string(header.get(), RPMTAG_NAME));
        }
        ++count;
    }
    return count;
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
        rpmtsSetRootDir(transaction.get(), "/");
        const std::size_t installed = import_installed(transaction.get(), scratch / installed_name);
        if (!elements.empty()) {
            install(transaction.get(), elements);
        }
        export_headers(transaction.get(), scratch / headers_name, installed + elements.size());
    }
    check_checkpointed(scratch);
    leave_wal_mode(scratch / sqlite_database);
}

/// `input`: a line with the directory, one with the time of installation, and one for each package.
std::string write_in_child(const std::string& input, const std::string& /*called*/) {
    std::istringstream lines(input);
    std::string scratch;
    std::string time;
    if (!std::getline(lines, scratch) || !std::getline(lines, time)) {
        throw Error("the package database is written without a directory");
    }
    // The installation time that librpm records, and where SQLite has its temporary files: what a
    // build that is killed leaves of them is removed with the slot.
    ::setenv("SOURCE_DATE_EPOCH", time.c_str(), 1);
    ::setenv("SQLITE_TMPDIR", scratch.c_str(), 1);
    write_both(scratch, read_elements(lines));
    return {};
}

const ChildFunction database_writer("write-rpmdb", write_in_child);

}  // namespace

void run_rpmdb_process(const Context& ctx, const std::vector<std::string>& installed,
                       const std::vector<ImportedPackage>& packages, const fs::path& scratch) {
    // Headers of ten thousand packages are 1 GB.
    constexpr ChildLimits limits{8ULL << 30U, std::chrono::minutes(30), std::chrono::hours(1)};
    const std::string called = "the image's package database";
    std::string input = fmt::format("{}\n{}\n", scratch.string(), ctx.source_date_epoch);
    std::string headers;
    for (const std::string& header : installed) {
        headers += fmt::format("{:{}}", header.size(), length_digits);
        headers += header;
    }
    write_file(scratch / installed_name, headers, 0600);
    std::vector<int> descriptors;
    for (const ImportedPackage& package : packages) {
        if (!package.rpm) {
            continue;  // one of the parent: it is among `installed`
        }
        input += fmt::format("{} {}\n", package.rpm->descriptor(), package.nevra.text());
        descriptors.push_back(package.rpm->descriptor());
    }
    const ChildCall call =
        call_in_child(ctx, database_writer, std::move(input), called, limits, descriptors);
    if (call.end == ChildCall::End::returned) {
        return;
    }
    Error failure = call.end == ChildCall::End::refused
                        ? Error(call.result)
                        : error("librpm ended while it wrote {}", called);
    for (std::string& line : last_lines(call.messages, 20)) {
        failure.traced(std::move(line));
    }
    throw failure;
}

}  // namespace edgegpu
