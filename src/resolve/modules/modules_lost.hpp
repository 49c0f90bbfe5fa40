#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolve/modules/modules.hpp"

namespace edgegpu {

/// A document of a stream of YAML documents.
struct YamlDocument {
    /// 1-based
    std::size_t line = 0;
    std::string_view text;
};

/// Splits at the lines that YAML begins and ends documents with ("---", "..."); documents without
/// content are left out. A byte order mark at the beginning is passed over. Points into `yaml`.
[[nodiscard]] std::vector<YamlDocument> split_documents(std::string_view yaml);

/// What can be made out of a document that libmodulemd refuses: type, module, stream, artifacts, as
/// far as it goes; nothing where it is no YAML. Repository, line and cause are left to the caller.
[[nodiscard]] std::optional<LostDocument> read_lost_document(std::string_view text);

/// Throws ErrorKind::unsolvable where a stream that was asked for has lost the document that would
/// be taken: there is no newer one.
void refuse_lost_request(const ModuleCatalogue& catalogue, const StreamRequest& request);

/// Throws ErrorKind::unsolvable where one of the packages may be there only because a document was
/// lost: it belongs to the document's stream, or is one that the stream would hide. A package is
/// its name and its NEVRA in modulemd's form.
void refuse_changed_by_loss(const ModuleCatalogue& catalogue, const ModuleSelection& selection,
                            const std::vector<std::pair<std::string, std::string>>& packages);

/// Name of an artifact: "x" of "x-0:1-1.noarch".
[[nodiscard]] std::string artifact_name(const std::string& nevra);

/// Versions of modulemd documents are numbers; text that is none is 0.
[[nodiscard]] std::uint64_t document_version(const std::string& text);

}  // namespace edgegpu
