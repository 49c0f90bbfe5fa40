#include "rootfs/rpm_header.hpp"

#include <cstdlib>

#include <rpm/rpmkeyring.h>
#include <rpm/rpmlib.h>
#include <rpm/rpmlog.h>
#include <rpm/rpmtd.h>

#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// The data of one tag, freed with this.
class TagData {
public:
    TagData(Header header, rpmTagVal tag, headerGetFlags flags = HEADERGET_MINMEM)
        : data_(rpmtdNew()), found_(headerGet(header, tag, data_, flags) != 0) {}
    TagData(const TagData&) = delete;
    TagData& operator=(const TagData&) = delete;
    ~TagData() {
        rpmtdFreeData(data_);
        rpmtdFree(data_);
    }
    [[nodiscard]] bool found() const { return found_; }
    [[nodiscard]] rpmtd get() const { return data_; }

private:
    rpmtd data_;
    bool found_;
};

}  // namespace

RpmTransaction make_transaction() {
    RpmTransaction transaction(rpmtsCreate());
    // Without a keyring, librpm would read the keys in the builder's rpmdb.
    rpmKeyring keyring = rpmKeyringNew();
    rpmtsSetKeyring(transaction.get(), keyring);
    rpmKeyringFree(keyring);
    const auto nothing = RPMVSF_MASK_NODIGESTS | RPMVSF_MASK_NOSIGNATURES;
    rpmtsSetVSFlags(transaction.get(), nothing);
    rpmtsSetVfyFlags(transaction.get(), nothing);
    rpmtsSetVfyLevel(transaction.get(), 0);
    return transaction;
}

RpmHeader read_rpm_header(rpmts transaction, FD_t fd, const std::string& name) {
    Header header = nullptr;
    const rpmRC status = rpmReadPackageFile(transaction, fd, name.c_str(), &header);
    RpmHeader owned(header);
    if ((status != RPMRC_OK && status != RPMRC_NOTTRUSTED && status != RPMRC_NOKEY) || !owned) {
        throw error("package {}: not an RPM, or its header is damaged", name);
    }
    return owned;
}

RpmHeader load_header(const std::string& blob, const std::string& name) {
    RpmHeader header(headerImport(const_cast<char*>(blob.data()),
                                  static_cast<unsigned>(blob.size()), HEADERIMPORT_COPY));
    if (!header) {
        throw error("package {}: the header in the cache is damaged", name)
            .hinted("delete the directory imports/ of the cache");
    }
    return header;
}

std::string export_header(Header header) {
    unsigned size = 0;
    const Handle<void, std::free> blob(headerExport(header, &size));
    if (!blob) {
        throw Error("librpm cannot write a header");
    }
    return {static_cast<const char*>(blob.get()), size};
}

std::string header_string(Header header, rpmTagVal tag) {
    return text_of(headerGetString(header, tag));
}

std::uint64_t header_number(Header header, rpmTagVal tag, std::uint64_t fallback) {
    const TagData data(header, tag);
    if (!data.found() || rpmtdCount(data.get()) == 0) {
        return fallback;
    }
    rpmtdNext(data.get());
    return rpmtdGetNumber(data.get());
}

std::vector<std::string> header_strings(Header header, rpmTagVal tag) {
    const TagData data(header, tag, HEADERGET_EXT);
    std::vector<std::string> values;
    if (data.found()) {
        while (const char* text = rpmtdNextString(data.get())) {
            values.emplace_back(text);
        }
    }
    return values;
}

std::vector<std::uint64_t> header_numbers(Header header, rpmTagVal tag) {
    const TagData data(header, tag);
    std::vector<std::uint64_t> values;
    if (data.found()) {
        while (rpmtdNext(data.get()) >= 0) {
            values.push_back(rpmtdGetNumber(data.get()));
        }
    }
    return values;
}

}  // namespace edgegpu
