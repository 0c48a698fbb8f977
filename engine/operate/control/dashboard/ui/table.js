// Tables that can be sorted. Rows that stay keep their elements, so that focus and selection stay, too.
import { h, say } from './dom.js'

// table makes a table. isTitled says that a heading names it already. A column has a title, a text and perhaps a value to sort by, and is a number or not.
export function table(options) {
  const { caption, columns, empty } = options
  let order = options.keepsOrder ? { column: {}, isOfServer: true } : options.order || { column: columns[0], down: false }
  let rows = []
  const elements = new Map()
  const body = h('tbody')
  const none = h('div', {}, options.isTitled ? null : h('h3', {}, caption), h('p', { class: 'quiet' }, empty || 'Nothing yet.'))
  const heads = columns.map((c) => h('th', { scope: 'col', class: c.number ? 'number' : '' },
    h('button', { class: 'sort', onclick: () => sortBy(c) }, c.title)))
  const element = h('table', { class: options.class }, h('caption', { class: options.isTitled ? 'unseen' : '' }, caption), h('thead', {}, h('tr', {}, heads)), body)
  const box = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption, hidden: true }, element)

  function sortBy(column) {
    order = { column, down: order.column === column ? !order.down : !!column.number }
    draw()
  }

  function draw() {
    columns.forEach((c, i) => heads[i].setAttribute('aria-sort',
      c !== order.column ? 'none' : order.down ? 'descending' : 'ascending'))
    const by = order.column.value || order.column.text
    const sorted = order.isOfServer ? rows : rows.slice().sort((a, b) => {
      const x = by(a), y = by(b)
      const n = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y))
      return order.down ? -n : n
    })
    const kept = new Set()
    let at = body.firstElementChild
    for (const row of sorted.slice(0, options.most || 500)) {
      const key = options.key(row)
      kept.add(key)
      let tr = elements.get(key)
      if (!tr) {
        tr = h('tr', {}, columns.map((c) => h('td', { class: c.number ? 'number' : c.class || '' },
          c.element ? c.element(row) : null)))
        elements.set(key, tr)
      }
      columns.forEach((c, i) => { if (!c.element) say(tr.children[i], c.text(row)) })
      if (tr === at) at = at.nextElementSibling
      else body.insertBefore(tr, at)
    }
    for (const [key, tr] of elements) {
      if (!kept.has(key)) { tr.remove(); elements.delete(key) }
    }
    box.hidden = rows.length === 0
    none.hidden = rows.length > 0
  }

  return {
    element: h('div', { class: 'tablebox' }, box, none),
    update(next) { rows = next; draw() },
  }
}
