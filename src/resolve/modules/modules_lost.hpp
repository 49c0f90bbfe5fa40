#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolve/modules/modules.hpp"

namespace edgegpu {

/// One document of a YAML file.
struct YamlDocument {
    /// 1-based
    std::size_t line = 0;
    std::string_view text;
};

/// Splits a YAML file at its document markers ("---", "..."). Documents without content and a byte
/// order mark are skipped. Points into `yaml`.
[[nodiscard]] std::vector<YamlDocument> split_documents(std::string_view yaml);

/// Extracts type, module, stream and artifacts, if present, from a document that libmodulemd
/// rejects; nothing if it is not YAML. Repository, line and cause are left to the caller.
[[nodiscard]] std::optional<LostDocument> read_lost_document(std::string_view text);

/// Throws ErrorKind::unsolvable if the newest document of the requested stream is lost.
void refuse_lost_request(const ModuleCatalogue& catalogue, const StreamRequest& request);

/// Throws ErrorKind::unsolvable if one of the packages may have been chosen only because a document
/// was lost: it belongs to the document's stream, or the stream would hide it. `packages`: name and
/// NEVRA in modulemd's form.
void refuse_changed_by_loss(const ModuleCatalogue& catalogue, const ModuleSelection& selection,
                            const std::vector<std::pair<std::string, std::string>>& packages);

/// Name of an artifact: "x" of "x-0:1-1.noarch".
[[nodiscard]] std::string artifact_name(const std::string& nevra);

/// Version of a modulemd document as a number; 0 for any other text.
[[nodiscard]] std::uint64_t document_version(const std::string& text);

}  // namespace edgegpu
