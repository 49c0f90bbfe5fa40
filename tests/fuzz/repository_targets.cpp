#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/targets.hpp"
#include "log/console.hpp"
#include "openpgp/armor.hpp"
#include "openpgp/key_file.hpp"
#include "openpgp/packets.hpp"
#include "resolve/metadata/comps.hpp"
#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/metadata_records.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/modules/modules_lost.hpp"
#include "resolve/solve/advisories.hpp"
#include "resolve/solve/pool.hpp"
#include "support/files/file.hpp"
#include "support/metadata_fixture.hpp"
#include "transfer/mirrors.hpp"

namespace edgegpu::fuzz {

namespace {

Console& silent() {
    static Console console([] {
        ConsoleOutput nowhere;
        nowhere.write = [](std::string_view) {};
        return nowhere;
    }());
    return console;
}

Context context() {
    Context ctx;
    ctx.cache = scratch() / "cache";
    ctx.console = &silent();
    return ctx;
}

Repository repository() {
    Repository made;
    made.id = "r";
    made.baseurls = {"file://" + (scratch() / "repository").string()};
    made.repo_gpgcheck = false;
    made.location = {"/b.toml", 3, 1};
    return made;
}

}  // namespace

void read_comps(std::string_view data) {
    Comps comps;
    read_or_refuse([&] { add_comps(comps, std::string(data), "comps.xml of repository 'r'"); });
}

void read_metalink_text(std::string_view data) {
    read_or_refuse([&] { static_cast<void>(read_metalink(repository(), std::string(data))); });
}

void read_modulemd(std::string_view data) {
    read_or_refuse([&] {
        ModuleReader reader("x86_64");
        reader.add(std::string(data), "r");
        const ModuleCatalogue catalogue = reader.take();
        static_cast<void>(select_modules(catalogue, {}));
    });
    for (const YamlDocument& document : split_documents(data)) {
        read_or_refuse([&] { static_cast<void>(read_lost_document(document.text)); });
    }
}

void read_openpgp(std::string_view data) {
    read_or_refuse([&] {
        for (const Certificate& certificate : read_key_file(data, "gpgkey of repository 'r'")) {
            static_cast<void>(certificate.text());
            static_cast<void>(certificate.find("0123456789ABCDEF"));
        }
    });
    std::vector<std::string> binary{std::string(data)};
    for (const ArmorBlock& block : read_armor(data)) {
        binary.push_back(block.data);
    }
    for (const std::string& packets : binary) {
        for (const Packet& packet : split_packets(packets).value_or(std::vector<Packet>())) {
            static_cast<void>(read_signature_packet(packet.body));
        }
    }
}

void read_primary(std::string_view data) {
    const Repository from = repository();
    const auto directory = scratch() / "primary";
    std::filesystem::remove_all(directory);
    make_directories(directory);
    RepositoryMetadata metadata;
    metadata.repository = &from;
    metadata.resolved.id = from.id;
    metadata.directory = directory;
    metadata.primary = scratch_file("primary.xml", data);
    read_or_refuse([&] {
        const PackagePool pool(context(), {metadata}, "x86_64");
        for (const Id id : pool.packages()) {
            read_or_refuse([&] { static_cast<void>(pool.resolved(id)); });
        }
    });
}

void read_repomd(std::string_view data) {
    const auto path = scratch_file("repomd.xml", data);
    read_or_refuse([&] {
        const MetadataRecords records = read_records(repository(), path);
        for (const auto& [kind, record] : records.readable) {
            read_or_refuse([&, place = &record] {
                static_cast<void>(file_place(repository(), "x", place->base, place->href));
            });
        }
    });
}

void read_updateinfo(std::string_view data) {
    std::filesystem::remove_all(scratch() / "cache");
    test::make_metadata(scratch() / "repository", {"a-1:1-1.x86_64", "kernel-core-1-1.x86_64"}, "",
                        "", std::string(data));
    read_or_refuse([&] {
        const Context ctx = context();
        const std::vector<Repository> repositories{repository()};
        const PackagePool pool(ctx, load_metadata(ctx, repositories), "x86_64");
        std::vector<ResolvedPackage> packages;
        for (const Id id : pool.packages()) {
            packages.push_back(pool.resolved(id));
        }
        static_cast<void>(fixed_advisories(ctx, pool, packages));
    });
}

}  // namespace edgegpu::fuzz
