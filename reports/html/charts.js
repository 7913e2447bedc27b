// Draws the charts of the page from the JSON block in it. Places, ticks and labels come ready made; nothing here scales
// or rounds a number. Colours are CSS variables, so that dark mode and printing need no second drawing.
// SPDX-License-Identifier: Apache-2.0
import {BarChart, LineChart, ScatterChart} from 'echarts/charts';
import {GridComponent, LegendComponent, MarkLineComponent, TooltipComponent} from 'echarts/components';
import {init, use} from 'echarts/core';
import {SVGRenderer} from 'echarts/renderers';

use([BarChart, LineChart, ScatterChart, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, SVGRenderer]);

const series_colours = 8;
// Filled shapes that stay apart in black and white: after the four of the library a plus, a cross, a triangle on its tip
// and an hourglass.
const symbols = [
  'circle', 'rect', 'triangle', 'diamond', 'path://M-1,-3H1V-1H3V1H1V3H-1V1H-3V-1H-1Z',
  'path://M-3,-2L-2,-3L0,-1L2,-3L3,-2L1,0L3,2L2,3L0,1L-2,3L-3,2L-1,0Z', 'path://M-3,-2.5H3L0,3Z', 'path://M-3,-3H3L0,0L3,3H-3L0,0Z',
];
const dashes = ['solid', [7, 3], [2, 3], [9, 3, 2, 3], 'solid', [7, 3], [2, 3], [9, 3, 2, 3]];
// Stripes and dots over the bars, in the colour of the paper.
const decals = [
  null,
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: Math.PI / 4},
  {symbol: 'circle', dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [5, 0], symbolSize: 0.5},
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -Math.PI / 4},
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: 0},
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 2},
  {symbol: 'diamond', dashArrayX: [[6, 6], [0, 6, 6, 0]], dashArrayY: [6, 0], symbolSize: 0.6},
  {symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1, 8], rotation: Math.PI / 4},
];

const colour = (index) => `var(--series-${index % series_colours})`;
const style = {ink: 'var(--ink)', soft: 'var(--soft)', line: 'var(--line)', paper: 'var(--paper)'};
// The page's own font by name: texts are measured on a canvas, which knows no 'inherit'.
const font = getComputedStyle(document.body).fontFamily;
const text_style = {color: style.soft, fontSize: 12, fontFamily: font};

// At most `room` ticks, evenly left out.
function value_axis(axis, narrow, room) {
  const stride = Math.ceil(axis.ticks.length / Math.max(2, room));
  const ticks = axis.ticks.filter((_, index) => index % stride === 0);
  const labels = new Map(ticks.map((tick) => [tick.at, tick.label]));
  const label_of = (at) => {
    if (labels.has(at)) return labels.get(at);
    const near = ticks.find((tick) => Math.abs(tick.at - at) <= 1e-9 * Math.abs(axis.maximum - axis.minimum));
    return near ? near.label : '';
  };
  const places = ticks.map((tick) => tick.at);
  return {
    type: 'value',
    min: axis.minimum,
    max: axis.maximum,
    name: axis.name,
    nameTextStyle: text_style,
    axisLabel: {...text_style, customValues: places, formatter: label_of, hideOverlap: true, fontSize: narrow ? 11 : 12},
    axisTick: {show: true, customValues: places, lineStyle: {color: style.line}},
    axisLine: {show: true, lineStyle: {color: style.soft}},
    splitLine: {lineStyle: {color: style.line, width: 1}},
  };
}

function category_axis(axis, width) {
  const room = Math.max(40, (width - 110) / axis.labels.length - 8);
  const lines = Math.max(...axis.labels.map((label) => Math.ceil(text_width(label) / room)));
  return {
    nameGap: 15 * lines + 18,
    type: 'category',
    data: axis.labels,
    name: axis.name,
    nameTextStyle: text_style,
    axisLabel: {...text_style, interval: 0, width: room, overflow: 'break', lineHeight: 15},
    axisTick: {show: false},
    axisLine: {lineStyle: {color: style.soft}},
  };
}

// Whether the label of a limit stands at the start or the end of its line: where fewer points lie just above it.
function roomier_end(chart, limit) {
  const height = chart.y.maximum - chart.y.minimum;
  const width = chart.x.maximum - chart.x.minimum;
  const near = chart.series.flatMap((series) => series.points).filter((point) => point.y >= limit.at && point.y <= limit.at + height * 0.12);
  const across = near.map((point) => (point.x - chart.x.minimum) / width);
  const at_start = across.filter((share) => share < 0.35).length;
  const at_end = across.filter((share) => share > 0.65).length;
  return at_start < at_end ? 'insideStartTop' : 'insideEndTop';
}

function limit_lines(chart) {
  return {
    silent: true,
    symbol: 'none',
    animation: false,
    data: chart.limits.map((limit) => ({
      yAxis: limit.at,
      name: limit.label,
      lineStyle: {color: style.ink, type: 'solid', width: 1.5},
      label: {formatter: () => limit.label, position: roomier_end(chart, limit), distance: 3, color: style.ink,
              textBorderColor: style.paper, textBorderWidth: 4, fontSize: 12, fontFamily: font},
    })),
  };
}

function one_series(chart, series, index) {
  const common = {name: series.name, data: series.points.map((point) => ({value: [point.x, point.y], shown: point})), animation: false,
                  emphasis: {disabled: true}};
  if (chart.kind === 'bar' || chart.kind === 'stacked_bar') {
    const decal = decals[index % decals.length];
    return {...common, type: 'bar', barMaxWidth: 72, barGap: '8%', stack: chart.kind === 'stacked_bar' ? 'all' : undefined,
            itemStyle: {color: colour(index), borderColor: style.paper, borderWidth: 1,
                        decal: decal ? {...decal, color: style.paper} : undefined}};
  }
  const line = series.line && chart.kind === 'line' || series.line && chart.kind === 'scatter' && series.points.length > 1;
  return {...common, type: line ? 'line' : 'scatter', symbol: symbols[index % symbols.length], symbolSize: line ? 7 : 10,
          showSymbol: series.points.length <= 60, showAllSymbol: true, clip: true,
          lineStyle: {color: colour(index), width: 2, type: dashes[index % dashes.length]},
          itemStyle: {color: colour(index), opacity: 1, borderColor: style.paper, borderWidth: line ? 0 : 1}};
}

// Built from nodes, not from markup, so that no name in the data can become an element.
function tip(chart, item) {
  const box = document.createElement('div');
  box.className = 'tip';
  const add = (tag, text) => {
    const node = document.createElement(tag);
    node.textContent = text;
    box.append(node, document.createElement('br'));
  };
  add('b', item.seriesName);
  add('span', `${chart.x.name}: ${item.data.shown.x_label}`);
  add('span', `${chart.y.name}: ${item.data.shown.y_label}`);
  return box;
}

const pen = document.createElement('canvas').getContext('2d');
function text_width(text) {
  pen.font = `12px ${font}`;
  return pen.measureText(text).width;
}

const legend_icon = 25;
const legend_gap = 14;
const legend_row = 28;

function legend_rows(chart, width) {
  if (chart.series.length < 2) return 0;
  let rows = 1;
  let used = 0;
  for (const series of chart.series) {
    const wanted = legend_icon + 5 + text_width(series.name) + legend_gap;
    if (used > 0 && used + wanted > width) {
      rows += 1;
      used = 0;
    }
    used += wanted;
  }
  return rows;
}

function options(chart, width) {
  const narrow = width < 520;
  const rows = legend_rows(chart, width);
  const x = chart.x.labels.length > 0 ? category_axis(chart.x, width) : value_axis(chart.x, narrow, Math.floor((width - 90) / 62));
  const y = value_axis(chart.y, narrow, 20);
  x.splitLine = {show: chart.x.labels.length === 0, lineStyle: {color: style.line, opacity: 0.6}};
  const series = chart.series.map((each, index) => one_series(chart, each, index));
  if (chart.limits.length > 0 && series.length > 0) series[0].markLine = limit_lines(chart);
  return {
    animation: false,
    textStyle: {fontFamily: font},
    color: chart.series.map((_, index) => colour(index)),
    legend: {show: rows > 0, top: 0, left: 0, right: 0, itemWidth: legend_icon, itemGap: legend_gap, textStyle: {...text_style, color: style.ink},
             inactiveColor: style.line, inactiveBorderColor: style.line},
    grid: {left: 12, right: narrow ? 16 : 28, top: rows * legend_row + 32, bottom: 36, containLabel: true},
    tooltip: {trigger: 'item', confine: true, backgroundColor: style.paper, borderColor: style.line, padding: [6, 10],
              textStyle: {color: style.ink, fontFamily: font}, formatter: (item) => tip(chart, item)},
    xAxis: {nameGap: 32, ...x, nameLocation: 'middle'},
    yAxis: {...y, nameLocation: 'end', nameGap: 12, nameTextStyle: {...text_style, align: 'left', padding: [0, 0, 0, -40]}},
    series,
  };
}

const plot_height = 368;

// Draws and returns a function that draws again for a given width, or for the width that the page gives.
function draw(place, chart) {
  const figure = place.closest('.chart');
  figure.classList.add('drawn');
  const drawing = init(place, null, {renderer: 'svg'});
  let drawn_width = 0;
  const fit = (width) => {
    if (width === 0 || width === drawn_width) return;
    drawn_width = width;
    const height = plot_height + Math.max(0, legend_rows(chart, width) - 1) * legend_row;  // a long legend takes its own room
    place.style.height = `${height}px`;
    drawing.resize({width, height});
    drawing.setOption(options(chart, width), true);
    const svg = place.querySelector('svg');  // with a view box, paper can scale the drawing to its own width
    svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
  };
  fit(place.clientWidth);
  new ResizeObserver(() => fit(place.clientWidth)).observe(place);
  const numbers = figure.querySelector('details.numbers');
  if (numbers) numbers.open = false;
  return (width) => fit(width ?? place.clientWidth);
}

const charts = JSON.parse(document.getElementById('charts').textContent);
const fits = [...document.querySelectorAll('.plot')].map((place) => draw(place, charts[Number(place.dataset.chart)]));

// Paper shows what the screen has folded, and its charts are drawn for its width, so that their texts stay readable.
const paper_width = 700;
let folded = [];
addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details.long:not([open])')];
  for (const each of folded) each.open = true;
  for (const fit of fits) fit(paper_width);
});
addEventListener('afterprint', () => {
  for (const each of folded) each.open = false;
  for (const fit of fits) fit();
});
