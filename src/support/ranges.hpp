#pragma once

#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace edgegpu {

/// What `function` (here and below a callable or a member) gives for an element of `Range`.
template <typename Range, typename Function>
using MappedTo = std::remove_cvref_t<std::invoke_result_t<
    Function&, std::ranges::range_reference_t<std::remove_reference_t<Range>&>>>;

/// What `function` gives for each element of `range`, in order, in a container such as a set.
template <typename Container, std::ranges::input_range Range, typename Function>
[[nodiscard]] Container mapped_to(Range&& range, Function function) {
    Container results;
    for (auto&& element : range) {
        results.insert(results.end(), std::invoke(function, element));
    }
    return results;
}

/// The same in a vector.
template <std::ranges::input_range Range, typename Function>
[[nodiscard]] auto mapped(Range&& range, Function function) {
    return mapped_to<std::vector<MappedTo<Range, Function>>>(range, std::move(function));
}

/// The same of those elements alone that fulfil `predicate`.
template <std::ranges::input_range Range, typename Predicate, typename Function>
[[nodiscard]] auto mapped_if(Range&& range, Predicate predicate, Function function) {
    std::vector<MappedTo<Range, Function>> results;
    for (auto&& element : range) {
        if (std::invoke(predicate, element)) {
            results.push_back(std::invoke(function, element));
        }
    }
    return results;
}

/// Copies of the elements that fulfil `predicate`.
template <std::ranges::input_range Range, typename Predicate>
[[nodiscard]] auto filtered(Range&& range, Predicate predicate) {
    return mapped_if(range, std::move(predicate), std::identity());
}

/// The elements that fulfil `predicate`, where they are: for as long as `range` stays as it is.
template <std::ranges::input_range Range, typename Predicate>
[[nodiscard]] auto pointers_to(Range& range, Predicate predicate) {
    return mapped_if(range, std::move(predicate), [](auto& element) { return &element; });
}

/// The sum of the elements, or of what `function` gives for them; of texts, all in a row.
template <std::ranges::input_range Range, typename Function = std::identity>
[[nodiscard]] auto sum_of(Range&& range, Function function = {}) {
    MappedTo<Range, Function> sum{};
    for (auto&& element : range) {
        sum += std::invoke(function, element);
    }
    return sum;
}

/// The keys of a map, in its order.
template <typename Map>
[[nodiscard]] std::vector<typename Map::key_type> keys_of(const Map& map) {
    return mapped(map, &Map::value_type::first);
}

}  // namespace edgegpu
