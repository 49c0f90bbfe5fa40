#include "rootfs/order.hpp"

#include <algorithm>

#include <rpm/rpmte.h>
#include <rpm/rpmts.h>

#include "rootfs/rpm_header.hpp"
#include "support/error.hpp"

namespace edgegpu {

std::vector<ImportedPackage> order_packages(std::vector<ImportedPackage> packages) {
    // Where dependencies leave it open, rpm's order depends on the order in which packages are
    // added.
    std::ranges::sort(packages, {}, &ImportedPackage::nevra);
    const RpmTransaction transaction = make_transaction();
    for (const ImportedPackage& package : packages) {
        if (rpmtsAddInstallElement(transaction.get(), package.header.get(), &package, 0, nullptr) !=
            0) {
            throw error("package {}: librpm does not accept it", package.nevra.text());
        }
    }
    if (rpmtsOrder(transaction.get()) != 0) {
        throw Error("librpm cannot order the packages");
    }
    std::vector<ImportedPackage> ordered;
    ordered.reserve(packages.size());
    rpmtsi iterator = rpmtsiInit(transaction.get());
    while (rpmte element = rpmtsiNext(iterator, TR_ADDED)) {
        const auto* package = static_cast<const ImportedPackage*>(rpmteKey(element));
        ordered.push_back(std::move(packages[static_cast<std::size_t>(package - packages.data())]));
    }
    rpmtsiFree(iterator);
    if (ordered.size() != packages.size()) {
        throw error("librpm ordered {} of {} packages", ordered.size(), packages.size());
    }
    return ordered;
}

}  // namespace edgegpu
