// A line over time, as a drawing whose colours are those of the page.
import { h, svg, say } from './dom.js'
import { moment } from './format.js'

const width = 360, height = 96

// chart makes a chart of one series of the history. base is that of the units of its form: 1,000, or 1,024 for bytes.
export function chart(title, name, form, base) {
  const line = svg('path', { class: 'line' })
  const area = svg('path', { class: 'area' })
  const cursor = svg('line', { class: 'cursor', y1: 0, y2: height, visibility: 'hidden' })
  const axis = [1, 0.5, 0].map(() => h('span', {}))
  const from = h('span', { class: 'tick' })
  const to = h('span', { class: 'tick' })
  const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    ...[0, height / 2, height].map((y) => svg('line', { class: 'base', x1: 0, x2: width, y1: y, y2: y })), area, line, cursor)
  const now = h('strong', { class: 'figure', title: name }, '')
  const note = h('span', { class: 'quiet' }, '')
  let points = [], step = 1, begin = 0, top = 1, most = ''

  // draw draws the points of a series. hasEnded says that its last point is the end of the crawl, and not now.
  function draw(series, hasEnded) {
    points = series.series[name] || []
    step = series.step
    begin = series.from
    let high = -1
    points.forEach((p, i) => { if (p !== null && (high < 0 || p > points[high])) high = i })
    top = roundUp(high < 0 ? 0 : points[high], base || 1000)
    most = high < 0 || !points[high] ? '' : `at most ${form(points[high])}`
    let path = '', fill = '', open = false, first = 0
    points.forEach((p, i) => {
      if (p === null) {
        if (open) fill += `L${x(i - 1)} ${height}L${first} ${height}Z`
        open = false
        return
      }
      path += (open ? 'L' : 'M') + x(i) + ' ' + y(p)
      fill += (open ? 'L' : 'M') + x(i) + ' ' + y(p)
      if (!open) first = x(i)
      open = true
    })
    if (open) fill += `L${x(points.length - 1)} ${height}L${first} ${height}Z`
    line.setAttribute('d', path)
    area.setAttribute('d', fill)
    say(axis[0], form(top))
    say(axis[1], form(top / 2))
    say(axis[2], '0')
    say(from, moment(begin))
    const last = begin + (points.length - 1) * step
    say(to, hasEnded ? moment(last) : 'now')
    say(note, most)
  }

  const x = (i) => +(i / Math.max(points.length - 1, 1) * width).toFixed(1)
  const y = (p) => +(height - p / top * height).toFixed(1)

  function point(event) {
    const box = drawing.getBoundingClientRect()
    const i = Math.round((event.clientX - box.left) / box.width * (points.length - 1))
    if (i < 0 || i >= points.length) return leave()
    cursor.setAttribute('x1', x(i))
    cursor.setAttribute('x2', x(i))
    cursor.setAttribute('visibility', 'visible')
    say(note, `${form(points[i])} at ${moment(begin + i * step)}`)
  }

  function leave() {
    cursor.setAttribute('visibility', 'hidden')
    say(note, most)
  }

  drawing.addEventListener('pointermove', point)
  drawing.addEventListener('pointerleave', leave)
  return {
    element: h('figure', { class: 'chart' }, h('figcaption', {}, h('span', {}, title), note, now),
      h('div', { class: 'plot' }, h('div', { class: 'axis tick', 'aria-hidden': 'true' }, axis), drawing),
      h('div', { class: 'row between times' }, from, to)),
    draw,
    name,
    say(value) { say(now, value === undefined ? '' : form(value)) },
  }
}

// roundUp is a number for the top of an axis whose half is short, too. It is at least 1.
export function roundUp(n, base) {
  let unit = 1
  while (base === 1024 && n >= unit * 1000 && unit < 1024 ** 5) unit *= 1024
  while (n > unit * 10) unit *= 10
  return unit * ([1, 2, 4, 6, 8, 10].find((m) => m * unit >= n) || 10)
}
