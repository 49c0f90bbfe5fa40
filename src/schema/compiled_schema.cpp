#include "schema/compiled_schema.hpp"

#include <new>
#include <optional>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "schema/formats.hpp"
#include "support/error.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

namespace {

using valijson::adapters::Adapter;
using valijson::adapters::NlohmannJsonAdapter;

/// `x-format`. valijson's own `format` fails for unknown names and for values that are not
/// strings, and its regular expressions exhaust the stack on a string of a megabyte.
class XFormat final : public valijson::constraints::PolyConstraint {
public:
    explicit XFormat(StringFormat format) : format_(format) {}

    bool validate(const Adapter& target, const std::vector<std::string>& context,
                  valijson::ValidationResults* results) const override {
        if (!target.isString() || has_format(target.asString(), format_)) {
            return true;
        }
        if (results != nullptr) {
            results->pushError(context, "not a " + std::string(enum_name(format_)));
        }
        return false;
    }

private:
    valijson::constraints::Constraint* cloneInto(void* memory) const override {
        return new (memory) XFormat(*this);
    }
    size_t sizeOf() const override { return sizeof(XFormat); }

    StringFormat format_;
};

class XFormatBuilder final : public valijson::ConstraintBuilder {
public:
    valijson::constraints::Constraint* make(const Adapter& format) const override {
        const std::optional<StringFormat> known = value_named<StringFormat>(format.asString());
        if (!known) {
            throw error("the schema has an unknown x-format: {}", format.asString());
        }
        return new XFormat(*known);  // the parser deletes it
    }
};

/// "[key]", as valijson writes each step.
std::string step_of(const std::string& written) {
    return written.size() < 2 ? written : written.substr(1, written.size() - 2);
}

}  // namespace

struct CompiledSchema::Prepared {
    valijson::Schema schema;
};

CompiledSchema::CompiledSchema(const nlohmann::json& document)
    : prepared_(std::make_unique<Prepared>()) {
    try {
        valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
        parser.addConstraintBuilder("x-format", new XFormatBuilder);  // the parser deletes it
        parser.populateSchema(NlohmannJsonAdapter(document), prepared_->schema);
    } catch (const std::runtime_error& failure) {
        throw error("the schema cannot be used: {}", failure.what());
    }
}

CompiledSchema::CompiledSchema(CompiledSchema&&) noexcept = default;
CompiledSchema& CompiledSchema::operator=(CompiledSchema&&) noexcept = default;
CompiledSchema::~CompiledSchema() = default;

std::vector<SchemaFailure> CompiledSchema::validate(const nlohmann::json& value) const {
    const NlohmannJsonAdapter target(value);
    // Most objects are right: the descriptions are made for the others alone.
    if (valijson::Validator().validate(prepared_->schema, target, nullptr)) {
        return {};
    }
    valijson::ValidationResults results;
    valijson::Validator().validate(prepared_->schema, target, &results);
    std::vector<SchemaFailure> failures;
    valijson::ValidationResults::Error failure;
    while (results.popError(failure)) {
        SchemaFailure& added = failures.emplace_back();
        // The first step is "<root>".
        for (std::size_t i = 1; i < failure.context.size(); ++i) {
            added.place.push_back(step_of(failure.context[i]));
        }
        added.text = std::move(failure.description);
    }
    return failures;
}

}  // namespace edgegpu
