// A distribution as bars, one for each range of values.
import { h, svg, say } from './dom.js'
import { count } from './format.js'

const width = 360, height = 84

// bars makes the drawing of one distribution. form is the form of the end of a range.
export function bars(title, name, form) {
  const drawing = svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': title })
  const low = h('span', { class: 'tick' })
  const high = h('span', { class: 'tick' })
  const note = h('span', { class: 'quiet' }, '')
  let seen = '', all = ''

  function range(d, i) {
    const begin = i === 0 ? d.from : d.ends[i - 1]
    if (i >= d.ends.length) return `above ${form(begin)}`
    return begin ? `${form(begin)} to ${form(d.ends[i])}` : `up to ${form(d.ends[i])}`
  }

  return {
    element: h('figure', { class: 'chart', 'data-name': name }, h('figcaption', {}, h('span', {}, title), note), drawing,
      h('div', { class: 'row between' }, low, high)),
    update(now) {
      const d = (now.distributions || {})[name]
      if (!d || d.counts.join() === seen) return
      seen = d.counts.join()
      const most = Math.max(...d.counts, 1)
      const step = width / Math.max(d.counts.length, 1)
      drawing.replaceChildren(svg('line', { class: 'base', x1: 0, x2: width, y1: height, y2: height }), ...d.counts.map((n, i) => {
        const tall = n ? Math.max(n / most * (height - 4), 1.5) : 0
        const text = `${range(d, i)}: ${count(n)}`
        return svg('rect', { class: 'barred', x: i * step + 1, width: Math.max(step - 2, 1), y: height - tall, height: tall,
          onpointerenter: () => say(note, text), onpointerleave: () => say(note, all) }, svg('title', {}, text))
      }))
      drawing.setAttribute('aria-label', title + ': ' + d.counts.map((n, i) => `${range(d, i)} ${n}`).join(', '))
      const sum = d.counts.reduce((a, b) => a + b, 0)
      say(note, all = sum ? `${count(sum)} in all, at most ${count(most)} in a bar` : '')
      say(low, d.counts.length ? range(d, 0) : 'nothing yet')
      say(high, d.counts.length > 1 ? range(d, d.counts.length - 1) : '')
    },
  }
}
