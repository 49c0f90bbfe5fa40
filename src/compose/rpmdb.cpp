#include "compose/rpmdb.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <rpm/rpmcallback.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmlog.h>
#include <rpm/rpmmacro.h>
#include <rpm/rpmpgp.h>
#include <rpm/rpmprob.h>
#include <rpm/rpmps.h>
#include <rpm/rpmts.h>
#include <unistd.h>

#include "rootfs/rpm_header.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// Defines, for its lifetime, macros that librpm would take from the builder's configuration.
class Macros {
public:
    explicit Macros(const fs::path& directory) {
        define("_dbpath", directory.string());
        define("_db_backend", "sqlite");
        define("_rpmlock_path", (directory / ".rpm.lock").string());
        define("_tmppath", directory.string());
    }
    Macros(const Macros&) = delete;
    Macros& operator=(const Macros&) = delete;
    ~Macros() {
        for (const char* name : defined_) {
            rpmPopMacro(nullptr, name);
        }
    }

private:
    void define(const char* name, const std::string& value) {
        rpmPushMacro(nullptr, name, nullptr, value.c_str(), RMIL_CMDLINE);
        defined_.push_back(name);
    }
    std::vector<const char*> defined_;
};

/// A variable of the environment, which librpm and SQLite read, for its lifetime; the previous
/// value is restored.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name); before != nullptr) {
            before_ = before;
        }
        ::setenv(name, value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() {
        if (before_) {
            ::setenv(name_, before_->c_str(), 1);
        } else {
            ::unsetenv(name_);
        }
    }

private:
    const char* name_;
    std::optional<std::string> before_;
};

/// The RPM that librpm has open through `on_event`: it reads the header of each element again.
struct OpenPackage {
    FD_t fd = nullptr;
};

void* on_event(const void* /*header*/, rpmCallbackType what, rpm_loff_t /*amount*/,
               rpm_loff_t /*total*/, fnpyKey key, rpmCallbackData data) noexcept {
    auto& open = *static_cast<OpenPackage*>(data);
    if (what == RPMCALLBACK_INST_OPEN_FILE) {
        open.fd = Fopen(static_cast<const ImportedPackage*>(key)->rpm->path().c_str(), "r.ufdio");
        return open.fd;
    }
    if (what == RPMCALLBACK_INST_CLOSE_FILE && open.fd != nullptr) {
        Fclose(open.fd);
        open.fd = nullptr;
    }
    return nullptr;
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

/// Puts a link to the database's directory at `path`, where the package rpm may have a directory.
void link_database(Tree& tree, const std::string& path, const std::string& target) {
    const std::string real = resolve_in_tree(tree, path, false);
    const auto at = tree.entries.find(real);
    if (at != tree.entries.end() && at->second.type == EntryType::directory) {
        for (const auto& [child, entry] : entries_below(tree.entries, real)) {
            if (entry.type != EntryType::directory) {
                throw error("a package contains {}, where the rpmdb has to be written", child);
            }
        }
        remove_entry(tree, real);
    }
    put_entry(tree, path, link_to(target));
}

}  // namespace

fs::path write_rpmdb(const Context& ctx, const std::vector<ImportedPackage>& packages,
                     const fs::path& scratch) {
    // The installation time that librpm records.
    const Variable time("SOURCE_DATE_EPOCH", std::to_string(ctx.source_date_epoch));
    // What a build that is killed leaves of SQLite's temporary files is removed with the slot.
    const Variable temporary("SQLITE_TMPDIR", scratch.string());
    rpmInitCrypto();
    const Macros macros(scratch);
    OpenPackage open;
    {
        const RpmTransaction transaction = make_transaction();
        rpmtsSetFlags(transaction.get(), RPMTRANS_FLAG_JUSTDB | RPMTRANS_FLAG_NOSCRIPTS |
                                             RPMTRANS_FLAG_NOTRIGGERS | RPMTRANS_FLAG_NOPLUGINS |
                                             RPMTRANS_FLAG_NOFILEDIGEST);
        rpmtsSetNotifyCallback(transaction.get(), on_event, &open);
        for (const ImportedPackage& package : packages) {
            if (rpmtsAddInstallElement(transaction.get(), package.header.get(), &package, 0,
                                       nullptr) != 0) {
                throw error("package {}: librpm does not accept it", package.nevra.text());
            }
        }
        const auto everything = static_cast<rpmprobFilterFlags>(~0U);
        if (rpmtsRun(transaction.get(), nullptr, everything) != 0) {
            throw Error("librpm cannot write the image's package database");
        }
    }
    fs::path database = scratch / "rpmdb.sqlite";
    check_checkpointed(scratch);
    leave_wal_mode(database);
    return database;
}

void install_rpmdb(const Context& ctx, Tree& tree, const fs::path& database) {
    remove_entry(tree, "/usr/share/rpm");
    Entry directory;
    directory.type = EntryType::directory;
    directory.mode = 0755;
    put_entry(tree, "/usr/share/rpm", directory);
    put_entry(tree, "/usr/share/rpm/rpmdb.sqlite", make_file_entry_from(ctx, database, 0644));
    link_database(tree, "/usr/lib/sysimage/rpm", "../../share/rpm");
    link_database(tree, "/var/lib/rpm", "../../usr/share/rpm");
}

}  // namespace edgegpu
