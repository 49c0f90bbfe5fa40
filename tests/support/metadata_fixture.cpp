#include "support/metadata_fixture.hpp"

#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <rpm/header.h>
#include <rpm/rpmds.h>

#include "support/files/digest.hpp"
#include "support/files/file.hpp"
#include "support/handles.hpp"

namespace edgegpu::test {

namespace {

namespace fs = std::filesystem;

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \n");
    const std::size_t end = text.find_last_not_of(" \n");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

struct Evr {
    std::string epoch = "0";
    std::string version;
    std::string release;

    explicit Evr(const std::string& text) {
        const std::size_t colon = text.find(':');
        if (colon != std::string::npos) {
            epoch = text.substr(0, colon);
        }
        const std::string rest = colon == std::string::npos ? text : text.substr(colon + 1);
        const std::size_t dash = rest.rfind('-');
        version = rest.substr(0, dash);
        release = dash == std::string::npos ? "" : rest.substr(dash + 1);
    }

    [[nodiscard]] std::string attributes() const {
        return fmt::format("epoch=\"{}\" ver=\"{}\"{}", epoch, version,
                           release.empty() ? "" : fmt::format(" rel=\"{}\"", release));
    }
};

/// "a, (b or c), d >= 1" → its parts; commas inside parentheses do not count.
std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

std::string entry(const std::string& dependency) {
    static const std::map<std::string, std::string> signs{
        {"<", "LT"}, {"<=", "LE"}, {"=", "EQ"}, {">=", "GE"}, {">", "GT"}};
    std::istringstream words(dependency);
    std::string name;
    std::string sign;
    std::string evr;
    if (dependency.starts_with('(') || !(words >> name >> sign >> evr)) {
        return fmt::format("<rpm:entry name=\"{}\"/>", escaped(dependency));
    }
    return fmt::format("<rpm:entry name=\"{}\" flags=\"{}\" {}/>", escaped(name), signs.at(sign),
                       Evr(evr).attributes());
}

std::string entries(const std::string& key, const std::vector<std::string>& dependencies) {
    std::string out = fmt::format("<rpm:{}>", key);
    for (const std::string& dependency : dependencies) {
        out += entry(dependency);
    }
    return out + fmt::format("</rpm:{}>", key);
}

std::string package_xml(const std::string& line) {
    std::map<std::string, std::vector<std::string>> fields;
    std::istringstream parts(line);
    std::string part;
    std::getline(parts, part, '|');
    const std::string nevra = trimmed(part);
    while (std::getline(parts, part, '|')) {
        const std::size_t colon = part.find(':');
        for (const std::string& value : split(part.substr(colon + 1))) {
            fields[trimmed(part.substr(0, colon))].push_back(trimmed(value));
        }
    }
    const std::size_t dot = nevra.rfind('.');
    const std::size_t release = nevra.rfind('-', dot);
    const std::size_t dash = nevra.rfind('-', release - 1);
    const std::string name = nevra.substr(0, dash);
    const std::string arch = nevra.substr(dot + 1);
    const std::string evr_text = nevra.substr(dash + 1, dot - dash - 1);
    const Evr evr(evr_text);
    fields["provides"].push_back(fmt::format("{} = {}", name, evr_text));
    const std::string digest = fields.contains("digest") ? fields["digest"][0] : nevra;
    const std::string source = fields.contains("source")
                                   ? fields["source"][0]
                                   : fmt::format("{}-{}-{}", name, evr.version, evr.release);
    std::string out = fmt::format(
        "<package type=\"rpm\"><name>{}</name><arch>{}</arch><version {}/>"
        "<checksum type=\"sha256\" pkgid=\"YES\">{}</checksum><summary>x</summary>"
        "<description>x</description><time file=\"1700000000\" build=\"1700000000\"/>"
        "<size package=\"1000\" installed=\"1\" archive=\"1\"/>"
        "<location href=\"Packages/{}.rpm\"/><format>"
        "<rpm:sourcerpm>{}.src.rpm</rpm:sourcerpm>",
        escaped(name), arch, evr.attributes(), sha256_hex(digest), nevra, source);
    for (const char* key :
         {"provides", "requires", "conflicts", "obsoletes", "recommends", "supplements"}) {
        if (fields.contains(key)) {
            out += entries(key, fields[key]);
        }
    }
    for (const std::string& path : fields["files"]) {
        out += fmt::format("<file>{}</file>", escaped(path));
    }
    return out + "</format></package>\n";
}

std::string data_xml(const fs::path& repodata, const std::string& type, const std::string& file,
                     const std::string& content) {
    write_file(repodata / file, content);
    return fmt::format(
        "<data type=\"{}\"><checksum type=\"sha256\">{}</checksum>"
        "<location href=\"repodata/{}\"/><timestamp>1700000000</timestamp><size>{}</size></data>\n",
        type, sha256_hex(content), file, content.size());
}

}  // namespace

void make_metadata(const fs::path& repository, const std::vector<std::string>& packages,
                   const std::string& modules, const std::string& comps,
                   const std::string& updateinfo) {
    const fs::path repodata = repository / "repodata";
    fs::create_directories(repodata);
    std::string primary = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<metadata xmlns=\"http://linux.duke.edu/metadata/common\" "
        "xmlns:rpm=\"http://linux.duke.edu/metadata/rpm\" packages=\"{}\">\n",
        packages.size());
    for (const std::string& line : packages) {
        primary += package_xml(line);
    }
    std::string repomd =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<repomd xmlns=\"http://linux.duke.edu/metadata/repo\">\n"
        "<revision>1700000000</revision>\n";
    repomd += data_xml(repodata, "primary", "primary.xml", primary + "</metadata>\n");
    repomd += data_xml(repodata, "filelists", "filelists.xml",
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<filelists "
                       "xmlns=\"http://linux.duke.edu/metadata/filelists\" packages=\"0\"/>\n");
    if (!modules.empty()) {
        repomd += data_xml(repodata, "modules", "modules.yaml", modules);
    }
    if (!comps.empty()) {
        repomd += data_xml(repodata, "group", "comps.xml", comps);
    }
    if (!updateinfo.empty()) {
        repomd += data_xml(repodata, "updateinfo", "updateinfo.xml", updateinfo);
    }
    write_file(repodata / "repomd.xml", repomd + "</repomd>\n");
}

std::string installed_header(const std::string& name, const char* version, const char* provides) {
    const Handle<headerToken_s, headerFree> header(headerNew());
    headerPutString(header.get(), RPMTAG_NAME, name.c_str());
    headerPutString(header.get(), RPMTAG_VERSION, version);
    headerPutString(header.get(), RPMTAG_RELEASE, "1");
    headerPutString(header.get(), RPMTAG_ARCH, "x86_64");
    headerPutString(header.get(), RPMTAG_OS, "linux");
    for (const char* capability : {name.c_str(), provides}) {
        const std::uint32_t equal = RPMSENSE_EQUAL;
        headerPutString(header.get(), RPMTAG_PROVIDENAME, capability);
        headerPutString(header.get(), RPMTAG_PROVIDEVERSION, version);
        headerPutUint32(header.get(), RPMTAG_PROVIDEFLAGS, &equal, 1);
    }
    unsigned size = 0;
    const Handle<void, std::free> blob(headerExport(header.get(), &size));
    return {static_cast<const char*>(blob.get()), size};
}

}  // namespace edgegpu::test
