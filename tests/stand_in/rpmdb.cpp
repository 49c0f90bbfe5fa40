// A stand-in for the rpmdb of rpm 4.14 (EL 8), which Debian 12 does not have: it writes the package
// database in Berkeley DB. Real: the library and its files, environment and locks
// (lib/backend/db3.c of rpm 4.14), the headers, keys and values that Debian's own rpm reads with
// its backend bdb_ro. Not there: everything but --importdb and --verifydb.
//
// Usage: rpmdb --dbpath DIRECTORY --importdb <HEADERS | --verifydb
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <db.h>
#include <fcntl.h>
#include <rpm/header.h>
#include <rpm/rpmio.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmtd.h>
#include <unistd.h>

namespace {

struct Index {
    const char* name;
    rpmTagVal tag;
};

constexpr std::array<Index, 18> indexes{{
    {"Name", RPMTAG_NAME},
    {"Basenames", RPMTAG_BASENAMES},
    {"Group", RPMTAG_GROUP},
    {"Requirename", RPMTAG_REQUIRENAME},
    {"Providename", RPMTAG_PROVIDENAME},
    {"Conflictname", RPMTAG_CONFLICTNAME},
    {"Obsoletename", RPMTAG_OBSOLETENAME},
    {"Triggername", RPMTAG_TRIGGERNAME},
    {"Dirnames", RPMTAG_DIRNAMES},
    {"Installtid", RPMTAG_INSTALLTID},
    {"Sigmd5", RPMTAG_SIGMD5},
    {"Sha1header", RPMTAG_SHA1HEADER},
    {"Filetriggername", RPMTAG_FILETRIGGERNAME},
    {"Transfiletriggername", RPMTAG_TRANSFILETRIGGERNAME},
    {"Recommendname", RPMTAG_RECOMMENDNAME},
    {"Suggestname", RPMTAG_SUGGESTNAME},
    {"Supplementname", RPMTAG_SUPPLEMENTNAME},
    {"Enhancename", RPMTAG_ENHANCENAME},
}};

void require(int code, const std::string& what) {
    if (code != 0) {
        throw std::runtime_error(what + ": " + db_strerror(code));
    }
}

DBT slice(void* data, std::size_t size) {
    DBT value{};
    value.data = data;
    value.size = static_cast<std::uint32_t>(size);
    return value;
}

/// An open file of the database in the environment.
class Table {
public:
    Table(DB_ENV* environment, const char* name, DBTYPE type) : name_(name) {
        require(db_create(&db_, environment, 0), name_);
        require(db_->open(db_, nullptr, name, nullptr, type, DB_CREATE, 0644), name_);
    }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    ~Table() { db_->close(db_, 0); }

    /// The value of a key is a list of pairs: package, place within the tag.
    void append(std::string key, std::uint32_t package, std::uint32_t place) {
        DBT at = slice(key.data(), key.size());
        DBT old{};
        old.flags = DB_DBT_MALLOC;
        std::string pairs;
        if (const int code = db_->get(db_, nullptr, &at, &old, 0); code == 0) {
            pairs.assign(static_cast<const char*>(old.data), old.size);
            std::free(old.data);
        } else if (code != DB_NOTFOUND) {
            require(code, name_);
        }
        for (const std::uint32_t number : {package, place}) {
            pairs.append(reinterpret_cast<const char*>(&number), sizeof number);
        }
        put(at, slice(pairs.data(), pairs.size()));
    }
    void put_numbered(std::uint32_t number, void* data, std::size_t size) {
        put(slice(&number, sizeof number), slice(data, size));
    }

private:
    void put(DBT key, DBT value) { require(db_->put(db_, nullptr, &key, &value, 0), name_); }

    std::string name_;
    DB* db_ = nullptr;
};

void add_to_index(Table& table, Header header, rpmTagVal tag, std::uint32_t package) {
    const std::unique_ptr<rpmtd_s, decltype(&rpmtdFree)> data(rpmtdNew(), rpmtdFree);
    if (headerGet(header, tag, data.get(), HEADERGET_MINMEM) == 0) {
        return;
    }
    while (rpmtdNext(data.get()) >= 0) {
        const auto place = static_cast<std::uint32_t>(rpmtdGetIndex(data.get()));
        if (rpmtdType(data.get()) == RPM_BIN_TYPE) {
            table.append({static_cast<const char*>(data->data), data->count}, package, 0);
            break;
        }
        if (const std::uint32_t* number = rpmtdGetUint32(data.get())) {
            table.append({reinterpret_cast<const char*>(number), sizeof *number}, package, place);
        } else if (const char* text = rpmtdGetString(data.get())) {
            table.append(text, package, place);
        }
    }
    rpmtdFreeData(data.get());
}

void import_headers(const std::string& directory) {
    for (const char* lock : {"/.dbenv.lock", "/.rpm.lock"}) {
        ::close(::open((directory + lock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    }
    DB_ENV* environment = nullptr;
    require(db_env_create(&environment, 0), directory);
    // Small, so that it has to use its pages again.
    require(environment->set_cachesize(environment, 0, 256 * 1024, 1), directory);
    require(environment->open(environment, directory.c_str(),
                              DB_CREATE | DB_INIT_MPOOL | DB_INIT_CDB, 0644),
            directory);
    {
        Table packages(environment, "Packages", DB_HASH);
        std::map<std::string, std::unique_ptr<Table>> tables;
        for (const Index& index : indexes) {
            tables[index.name] = std::make_unique<Table>(environment, index.name, DB_BTREE);
        }
        FD_t input = fdDup(STDIN_FILENO);
        std::uint32_t number = 0;
        while (Header header = headerRead(input, HEADER_MAGIC_YES)) {
            ++number;
            packages.put_numbered(0, &number, sizeof number);
            unsigned size = 0;
            void* blob = headerExport(header, &size);
            packages.put_numbered(number, blob, size);
            std::free(blob);
            for (const Index& index : indexes) {
                add_to_index(*tables[index.name], header, index.tag, number);
            }
            headerFree(header);
        }
        Fclose(input);
    }
    // The environment's files stay, as those of rpm 4.14 do.
    require(environment->close(environment, 0), directory);
}

void verify(const std::string& directory) {
    std::vector<std::string> names{"Packages"};
    for (const Index& index : indexes) {
        names.emplace_back(index.name);
    }
    for (const std::string& name : names) {
        DB* db = nullptr;
        require(db_create(&db, nullptr, 0), name);
        require(db->verify(db, (directory + "/" + name).c_str(), nullptr, nullptr, 0), name);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 4 || std::string_view(argv[1]) != "--dbpath") {
            throw std::runtime_error("not one of the calls that this stand-in knows");
        }
        const std::string_view mode = argv[3];
        if (mode == "--importdb") {
            import_headers(argv[2]);
        } else if (mode == "--verifydb") {
            verify(argv[2]);
        } else {
            throw std::runtime_error("not one of the modes that this stand-in knows");
        }
        return 0;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "rpmdb: %s\n", failure.what());
        return 1;
    }
}
