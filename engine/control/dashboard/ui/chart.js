// A line over time, as a drawing whose colours are those of the page.
import { h, svg, say } from './dom.js'
import { moment } from './format.js'

const width = 360, height = 96

// chart makes a chart of one series of the history.
export function chart(title, name, form) {
  const line = svg('path', { class: 'line' })
  const area = svg('path', { class: 'area' })
  const cursor = svg('line', { class: 'cursor', y1: 0, y2: height, visibility: 'hidden' })
  const top = h('span', { class: 'tick' })
  const from = h('span', { class: 'tick' })
  const to = h('span', { class: 'tick' })
  const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('line', { class: 'base', x1: 0, x2: width, y1: height, y2: height }), area, line, cursor)
  const now = h('strong', { class: 'figure', title: name }, '–')
  const note = h('span', { class: 'quiet' }, '')
  let points = [], step = 1, begin = 0, most = 1

  function draw(series) {
    points = series.series[name] || []
    step = series.step
    begin = series.from
    most = 0
    for (const p of points) if (p !== null && p > most) most = p
    most = most || 1
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
    say(top, form(most))
    say(from, moment(begin))
    say(to, 'now')
  }

  const x = (i) => +(i / Math.max(points.length - 1, 1) * width).toFixed(1)
  const y = (p) => +(height - p / most * (height - 12)).toFixed(1)

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
    say(note, '')
  }

  drawing.addEventListener('pointermove', point)
  drawing.addEventListener('pointerleave', leave)
  return {
    element: h('figure', { class: 'chart' }, h('figcaption', {}, h('span', {}, title), note, now),
      top, drawing,
      h('div', { class: 'row between' }, from, to)),
    draw,
    name,
    say(value) { say(now, form(value)) },
  }
}
