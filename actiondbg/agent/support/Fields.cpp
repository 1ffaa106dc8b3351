#include "support/Fields.h"

namespace adbg {

void Fields::fail(std::string message) {
  if (error.empty())
    error = std::move(message);
}

void Fields::wrong(StringRef key, StringRef expected) {
  fail("the field '" + nameOf(key) + "' is not " + expected);
}

const Json *Fields::get(StringRef key) {
  read.insert(key.str());
  return object.get(key);
}

const Json *Fields::optional(StringRef key) {
  const Json *value = get(key);
  return value && !value->isNull() ? value : nullptr;
}

std::string Fields::json(std::initializer_list<StringRef> keys) {
  std::string text;
  raw_string_ostream os(text);
  for (StringRef key : keys)
    if (const Json *value = optional(key))
      os << key << *value << '\n';
  return text;
}

int64_t Fields::integer(StringRef key, int64_t least) {
  if (!optional(key))
    fail("the field '" + nameOf(key) + "' is missing");
  return integerOr(key, least, least);
}

int64_t Fields::integerOr(StringRef key, int64_t least, int64_t otherwise) {
  const Json *value = optional(key);
  if (!value)
    return otherwise;
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < least) {
    wrong(key, "an integer of at least " + std::to_string(least));
    return otherwise;
  }
  return *number;
}

bool Fields::boolean(StringRef key, bool otherwise) {
  const Json *value = optional(key);
  if (!value)
    return otherwise;
  std::optional<bool> result = value->getAsBoolean();
  if (!result)
    wrong(key, "true or false");
  return result.value_or(otherwise);
}

std::string Fields::text(StringRef key) {
  if (!optional(key))
    fail("the field '" + nameOf(key) + "' is missing");
  return textOr(key, "");
}

std::string Fields::textOr(StringRef key, StringRef otherwise) {
  const Json *value = optional(key);
  if (!value)
    return otherwise.str();
  std::optional<StringRef> result = value->getAsString();
  if (!result)
    wrong(key, "a string");
  return result.value_or(otherwise).str();
}

const Object *Fields::optionalObject(StringRef key) {
  const Json *value = optional(key);
  if (!value)
    return nullptr;
  const Object *result = value->getAsObject();
  if (!result)
    wrong(key, "an object");
  return result;
}

const Array *Fields::array(StringRef key) {
  const Json *value = optional(key);
  const Array *result = value ? value->getAsArray() : nullptr;
  if (!result)
    wrong(key, "a list");
  return result;
}

template <typename T, typename Get>
std::vector<T> Fields::list(StringRef key, StringRef expected, Get get) {
  std::vector<T> result;
  if (const Array *list = array(key))
    for (const Json &one : *list) {
      if (auto value = (one.*get)())
        result.push_back(T(*value));
      else
        wrong(key, expected);
    }
  return result;
}

std::vector<std::string> Fields::texts(StringRef key) {
  return list<std::string>(key, "a list of strings", &Json::getAsString);
}

std::vector<int64_t> Fields::integers(StringRef key) {
  if (!optional(key))
    return {};
  return list<int64_t>(key, "a list of integers", &Json::getAsInteger);
}

void Fields::eachObject(StringRef key, function_ref<void(Fields &)> parse) {
  const Array *list = array(key);
  for (size_t i = 0; list && i < list->size() && error.empty(); ++i) {
    std::string element = nameOf(key) + "[" + std::to_string(i) + "]";
    const Object *value = (*list)[i].getAsObject();
    if (!value)
      return fail("the field '" + element + "' is not an object");
    Fields fields(*value, element + ".");
    parse(fields);
    if (!fields.error.empty())
      fail(fields.error);
  }
}

bool Fields::done() {
  for (const auto &field : object)
    if (!read.count(field.first))
      fail("there is no field '" + nameOf(field.first) + "'");
  return error.empty();
}

} // namespace adbg
