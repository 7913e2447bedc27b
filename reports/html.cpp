// A report as one self-contained page: the template of reports/html filled in. It reaches for nothing outside itself.
// SPDX-License-Identifier: Apache-2.0
#include <kainjow/mustache.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "reports/charts.h"
#include "reports/html/assets.h"
#include "reports/html/drawing.h"
#include "reports/render.h"
#include "reports/text.h"

namespace assay {
namespace {

using Data = kainjow::mustache::data;

constexpr std::size_t long_table = 30;   // rows; longer ones are folded
constexpr std::size_t many_columns = 8;  // from here on a table is set smaller, to stay within the page

// A section of the template shows for every string, even an empty one, and a missing name is looked up in the objects
// around it; so what is empty must be there, and false.
void set_or_false(Data& data, const std::string& name, const std::string& text) {
  if (text.empty()) {
    data.set(name, Data(false));
  } else {
    data.set(name, Data(text));
  }
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// The templates in one, so that each is parsed once and not once a cell.
std::string whole_template(const PageAssets& assets) {
  const std::string quantity(assets.quantity.substr(0, assets.quantity.find_last_not_of('\n') + 1));
  const std::string page = replaced(std::string(assets.page), "{{> table}}", assets.table);
  return replaced(page, "{{> quantity}}", quantity);
}

// A name for links inside the page; two things never share one.
class Anchors {
 public:
  std::string anchor(const std::string& id) {
    std::string safe = "x-";
    for (const char letter : id) {
      const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
      safe += plain ? letter : '-';
    }
    std::string unique = safe;
    for (int number = 2; !taken_.insert(unique).second; ++number) unique = safe + "-" + std::to_string(number);
    return unique;
  }

 private:
  std::set<std::string> taken_;
};

std::string hyphened(const std::string& word) { return replaced(word, " ", "-"); }

std::string class_of(Severity severity) {
  return severity == Severity::info ? "note-severity" : text(severity);  // .note is the line below a table
}

// The number and its interval apart, so that the style can tell them apart.
Data quantity(const Quantity& quantity) {
  const std::string shown = show(quantity);
  const std::size_t interval = shown.find(" (");
  Data data;
  data.set("value", shown.substr(0, interval));
  set_or_false(data, "interval", interval == std::string::npos ? "" : shown.substr(interval + 1));
  set_or_false(data, "reason",
               shown == "unknown" && !quantity.reason.empty() ? "(" + clean(quantity.reason) + ")" : "");
  return data;
}

// `right`: in a column of numbers only; among words a number stands to the left as they do.
Data cell(const Cell& cell, bool first, bool right) {
  Data data;
  for (const char* kind : {"head", "plain", "answer", "quantity"}) data.set(kind, Data(false));
  if (const auto* number = std::get_if<Quantity>(&cell)) {
    data.set("quantity", quantity(*number));
    data.set("right", Data(right));
    return data;
  }
  data.set("text", words(cell));
  if (const auto* answer = std::get_if<Answer>(&cell)) {
    data.set("answer", Data(true));
    data.set("class", hyphened(text(*answer)));
  } else {
    data.set(first ? "head" : "plain", Data(true));
  }
  return data;
}

Data columns(const Table& table) {
  Data data(Data::type::list);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    Data one;
    one.set("text", clean(table.columns[column]));
    one.set("number", Data(is_numeric(table, column)));
    data << one;
  }
  return data;
}

Data rows(const Table& table) {
  std::vector<bool> numeric;
  for (std::size_t column = 0; column < table.columns.size(); ++column) numeric.push_back(is_numeric(table, column));
  Data data(Data::type::list);
  for (const auto& row : table.rows) {
    Data cells(Data::type::list);
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      cells << cell(column < row.size() ? row[column] : Cell(""), column == 0, numeric[column]);
    }
    Data one;
    one.set("cells", cells);
    data << one;
  }
  return data;
}

void set_table(Data& data, const Table& table) {
  data.set("name", clean(table.title));
  data.set("columns", columns(table));
  data.set("rows", rows(table));
  data.set("many_columns", Data(table.columns.size() >= many_columns));
  set_or_false(data, "note", clean(table.note));
}

class Page {
 public:
  explicit Page(const Report& report) : report_(report), assets_(page_assets()) {}
  std::string render();

 private:
  Data headline() const;
  Data findings() const;
  Data provenance() const;
  Data sections();
  Data section(const Section& section);
  Data table(const Table& table);
  Data chart(const Chart& chart);

  const Report& report_;
  PageAssets assets_;
  Anchors anchors_;
  std::vector<Chart> charts_;  // in the order of the page
};

Data strings(const std::vector<std::string>& all) {
  Data data(Data::type::list);
  for (const std::string& each : all) data << Data(clean(each));
  return data;
}

Data verdict(const Verdict& verdict) {
  Data data;
  data.set("class", hyphened(text(verdict.answer)));
  data.set("sign", sign(verdict.answer, false));
  data.set("word", text(verdict.answer));
  data.set("sentence", clean(verdict.sentence));
  set_or_false(data, "deciding_term", clean(verdict.deciding_term));
  data.set("has_changes", Data(!verdict.changes.empty()));
  data.set("changes", strings(verdict.changes));
  return data;
}

Data Page::headline() const {
  Data data(Data::type::list);
  for (const auto& [name, number] : report_.headline) {
    Data one;
    one.set("name", clean(name));
    one.set("quantity", quantity(number));
    data << one;
  }
  return data;
}

Data Page::findings() const {
  Data data(Data::type::list);
  for (const Finding& finding : report_.findings) {
    Data one;
    one.set("class", class_of(finding.severity));
    one.set("severity", text(finding.severity));
    one.set("sentence", clean(finding.sentence));
    set_or_false(one, "evidence", clean(finding.evidence));
    set_or_false(one, "advice", clean(finding.advice));
    data << one;
  }
  return data;
}

Data Page::provenance() const {
  Data data(Data::type::list);
  for (const auto& [name, value] : report_.provenance) {
    Data one;
    one.set("name", clean(name));
    one.set("value", clean(value));
    data << one;
  }
  return data;
}

Data Page::table(const Table& table) {
  Data data;
  set_table(data, table);
  data.set("anchor", anchors_.anchor(table.id));
  set_or_false(data, "title", clean(table.title));
  data.set("long", Data(table.rows.size() > long_table));
  data.set("count", std::to_string(table.rows.size()));
  return data;
}

Data Page::chart(const Chart& chart) {
  Data data;
  set_table(data, chart_table(chart));
  data.set("anchor", anchors_.anchor(chart.id));
  data.set("title", clean(chart.title));
  data.set("index", std::to_string(charts_.size()));
  data.set("label", clean(chart.title + ". " + chart.caption));
  set_or_false(data, "caption", clean(chart.caption));
  charts_.push_back(chart);
  return data;
}

Data Page::section(const Section& section) {
  Data charts(Data::type::list);
  for (const Chart& each : section.charts) charts << chart(each);
  Data tables(Data::type::list);
  for (const Table& each : section.tables) tables << table(each);
  Data data;
  data.set("anchor", anchors_.anchor(section.id));
  data.set("title", clean(section.title));
  data.set("paragraphs", strings(section.paragraphs));
  data.set("charts", charts);
  data.set("tables", tables);
  return data;
}

Data Page::sections() {
  Data data(Data::type::list);
  for (const Section& each : report_.sections) data << section(each);
  return data;
}

std::string Page::render() {
  Data data;
  data.set("title", clean(report_.title));
  set_or_false(data, "subtitle", clean(report_.subtitle));
  data.set("verdict", report_.verdict ? verdict(*report_.verdict) : Data(false));
  data.set("has_headline", Data(!report_.headline.empty()));
  data.set("headline", headline());
  data.set("has_findings", Data(!report_.findings.empty()));
  data.set("findings", findings());
  data.set("has_provenance", Data(!report_.provenance.empty()));
  data.set("provenance", provenance());
  data.set("sections", sections());
  data.set("style", std::string(assets_.style));
  const bool draws = !assets_.script.empty() && !charts_.empty();
  set_or_false(data, "script", draws ? std::string(assets_.script) : "");
  data.set("script_hash", std::string(assets_.script_hash));
  data.set("licences", std::string(assets_.licences));
  data.set("charts_json", drawings(charts_));
  data.set("without_charts", Data(assets_.script.empty() && !charts_.empty()));

  kainjow::mustache::mustache page(whole_template(assets_));
  if (!page.is_valid()) throw Error("filling in the page's template: " + page.error_message());
  std::string text = page.render(data);
  if (!page.error_message().empty()) throw Error("filling in the page's template: " + page.error_message());
  return text;
}

}  // namespace

std::string render_html(const Report& report) { return Page(report).render(); }

}  // namespace assay
