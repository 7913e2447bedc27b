// Tests of the Markdown rendering.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reports/render.h"
#include "tests/reports/sample.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Markdown, HasTheAnswerAndTablesThatGitHubDraws) {
  const std::string text = render_markdown(sample_report());
  EXPECT_THAT(text, HasSubstr("# Llama-3-8B on 2 cores"));
  EXPECT_THAT(text, HasSubstr("## ~ tight\n\nLlama-3-8B fits"));
  EXPECT_THAT(text, HasSubstr("| model | parameters | chat, 4k | long context, 32k | full fine-tune |\n"
                              "| --- | ---: | --- | --- | --- |\n"
                              "| GPT-2 | 124,439,808 | ✓ fits | ✓ fits | ✓ fits |\n"));
  EXPECT_THAT(text, HasSubstr("- **problem**: FP16 products cannot be measured"));
}

TEST(Markdown, EscapesWhatWouldBeMarkup) {
  Report report;
  report.title = "a|b <i>c</i> & *d* [e](f) `g` ~h~ head_dim _x_";
  EXPECT_EQ(render_markdown(report),
            "# a\\|b &lt;i&gt;c&lt;/i&gt; &amp; \\*d\\* \\[e\\](f) \\`g\\` \\~h\\~ head_dim \\_x\\_\n");
  report.subtitle = "1. not a list";
  EXPECT_THAT(render_markdown(report), HasSubstr("\n1\\. not a list\n"));
  report.subtitle = "# not a heading";
  EXPECT_THAT(render_markdown(report), HasSubstr("\n\\# not a heading\n"));
  report.subtitle = "- not a list";
  EXPECT_THAT(render_markdown(report), HasSubstr("\n\\- not a list\n"));
}

TEST(Markdown, KeepsEveryTableRectangularWhateverTheNames) {
  std::istringstream text(render_markdown(hostile_report()));
  std::size_t wanted = 0;
  std::size_t tables = 0;
  for (std::string line; std::getline(text, line);) {
    std::size_t borders = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
      borders += line[at] == '|' && (at == 0 || line[at - 1] != '\\') ? 1 : 0;
    }
    if (line.empty() || line[0] != '|') {
      wanted = 0;
      continue;
    }
    tables += wanted == 0 ? 1 : 0;
    if (wanted == 0) wanted = borders;
    EXPECT_EQ(borders, wanted) << line;
  }
  EXPECT_EQ(tables, 9U);  // headline, three tables, four charts, provenance
}

TEST(Markdown, LetsNoHtmlThrough) { EXPECT_THAT(render_markdown(hostile_report()), Not(HasSubstr("<"))); }

}  // namespace
}  // namespace assay
