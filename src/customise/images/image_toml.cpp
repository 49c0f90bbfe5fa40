#include "customise/images/image_toml.hpp"

#include "blueprint/toml/toml_depth.hpp"
#include "support/error.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu {

toml::table parse_image_toml(const std::string& text, const std::string& name) {
    require_shallow_toml(name, text);
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& problem) {
        throw error(ErrorKind::usage, "{}:{}:{}: is not valid TOML: {}", name,
                    problem.source().begin.line, problem.source().begin.column,
                    printable_line(problem.description()))
            .hinted("correct this file of the image, with an overlay or its package");
    }
}

}  // namespace edgegpu
