// The hosts of the crawl, in an order, and a page for each of them.
import { h, say, tell } from './dom.js'
import { act } from './api.js'
import { poll } from './poll.js'
import { table } from './table.js'
import { bytes, count, counted, seconds } from './format.js'
import { explainBox } from './explain.js'

const orders = [['queue', 'the longest queue'], ['errors', 'the most errors'], ['delay', 'the longest delay'], ['due', 'the longest wait'],
  ['pages', 'the most pages'], ['bytes', 'the most bytes']]
// words are what the states of a site mean for people.
const words = {
  unresolved: 'no address yet', deferred: 'name not found', idle: 'idle', waiting: 'waiting', leased: 'being asked', parked: 'on hold', dead: 'given up',
}
const stateOf = (s) => words[s.state] || s.state

const siteColumn = { title: 'Site', text: (s) => s.site, class: 'name', element: siteLink }
const columns = {
  site: siteColumn,
  state: { title: 'State', text: stateOf },
  queued: { title: 'Queued', number: true, text: (s) => count(s.queued), value: (s) => s.queued },
  pages: { title: 'Pages', number: true, text: (s) => count(s.pages), value: (s) => s.pages },
  bytes: { title: 'Received', number: true, text: (s) => bytes(s.bytes), value: (s) => s.bytes },
  errors: { title: 'Errors', number: true, text: (s) => count(s.errors), value: (s) => s.errors },
  delay: { title: 'Delay', number: true, text: (s) => seconds(s.delay_seconds), value: (s) => s.delay_seconds },
  due: { title: 'Due in', number: true, text: (s) => s.due_in_seconds ? seconds(s.due_in_seconds) : 'now', value: (s) => s.due_in_seconds },
  why: { title: 'Waits for', text: (s) => (s.waits && s.waits[0] ? s.waits[0].text : ''), class: 'text' },
}

function siteLink(s) {
  return h('a', { href: '#/host/' + encodeURIComponent(s.site) }, s.site)
}

// listing is the path of a list of hosts.
export function listing(order, limit, suffix, state) {
  let path = `/hosts?sort=${order}&limit=${limit}`
  if (suffix) path += '&suffix=' + encodeURIComponent(suffix)
  if (state) path += '&state=' + encodeURIComponent(state)
  return path
}

// worst is a short list of hosts by one order, for the first page.
export function worst(caption, order, column) {
  const t = table({
    caption, key: (s) => s.site, order: { column: columns[column], down: true },
    columns: [siteColumn, columns[column]], empty: 'None.',
  })
  const p = poll(() => listing(order, 8), 10000,
    (answer) => t.update((answer.hosts || []).filter((s) => columns[column].value(s) > 0)), () => {})
  return { element: t.element, close: p.close }
}

export function hosts() {
  const order = h('select', { id: 'order', onchange: () => again() }, orders.map(([v, text]) => h('option', { value: v }, text)))
  const state = h('select', { id: 'state', onchange: () => again() }, h('option', { value: '' }, 'any state'),
    Object.entries(words).map(([v, text]) => h('option', { value: v }, text)))
  const suffix = h('input', { id: 'suffix', placeholder: 'example.org', spellcheck: 'false', oninput: () => again() })
  const note = h('p', { class: 'quiet', role: 'status' }, '')
  const c = columns
  const t = table({
    caption: 'Hosts', isTitled: true, key: (s) => s.site, most: 1000, keepsOrder: true, empty: 'No host matches.',
    columns: [c.site, c.state, c.queued, c.pages, c.bytes, c.errors, c.delay, c.due, c.why],
  })
  const p = poll(() => listing(order.value, 200, suffix.value.trim(), state.value), 5000, (answer) => {
    const list = answer.hosts || []
    t.update(list)
    say(note, `${counted(answer.matching, 'site matches', 'sites match')}, with ${counted(answer.queued, 'URL', 'URLs')}. ` +
      (answer.matching > list.length ? `The first ${counted(list.length, 'is', 'are')} shown.` : ''))
  }, (fault) => say(note, fault))
  const again = () => p.ask()
  return {
    element: h('div', {}, h('h1', {}, 'Hosts'),
      h('div', { class: 'filters' },
        h('label', { for: 'order' }, 'First: ', order), h('label', { for: 'state' }, 'State: ', state),
        h('label', { for: 'suffix' }, 'Below: ', suffix)),
      note, t.element),
    update() {},
    close: p.close,
  }
}

// host is the page of one host.
export function host([name]) {
  const facts = h('dl', { class: 'list' })
  const waits = h('ol', { class: 'waits' })
  const note = h('p', { class: 'quiet', role: 'status' }, '')
  const queue = table({
    caption: 'Next URLs', key: (u) => u.position + ' ' + u.url, keepsOrder: true, most: 200, empty: 'Nothing is queued.',
    columns: [
      { title: 'Place', number: true, text: (u) => (u.position ? count(u.position) : 'now'), value: (u) => u.position },
      { title: 'URL', text: (u) => u.url, class: 'name' },
      { title: 'Due in', number: true, text: (u) => (u.due_in_seconds ? seconds(u.due_in_seconds) : 'now'), value: (u) => u.due_in_seconds },
      { title: 'Depth', number: true, text: (u) => count(u.depth), value: (u) => u.depth },
      { title: 'Tries', number: true, text: (u) => count(u.tries), value: (u) => u.tries },
      { title: 'Kept in', text: (u) => u.place },
      { title: 'Found on', text: (u) => u.via || '', class: 'name' },
    ],
  })
  const p = poll(() => '/queue?limit=100&host=' + encodeURIComponent(name), 3000, show, (fault) => say(note, fault))
  const bare = name.replace(/^[a-z]+:\/\//, '').replace(/:\d+$/, '')

  function show(answer) {
    say(note, answer.paused || '')
    const sites = answer.sites || []
    facts.replaceChildren(...sites.flatMap((s) => [
      ['Site', s.site], ['State', stateOf(s)], ['URLs queued', count(s.queued)], ['of these on disk', count(s.on_disk)],
      ['Pages stored', count(s.pages)], ['Received', bytes(s.bytes)], ['Exchanges that failed', count(s.errors)],
      ['Failures in a row', count(s.failures_in_a_row)], ['Address of its delay', s.address || '–'],
      ['Delay', seconds(s.delay_seconds)], ['Due in', s.due_in_seconds ? seconds(s.due_in_seconds) : 'now'],
    ]).map(([k, v]) => h('div', {}, h('dt', {}, k), h('dd', {}, v))))
    waits.replaceChildren(...sites.flatMap((s) => s.waits || [])
      .map((w) => h('li', {}, w.text, w.seconds ? h('span', { class: 'quiet' }, ` ${seconds(w.seconds)} left`) : null)))
    queue.update(sites.flatMap((s) => s.urls || []))
  }

  const rule = h('input', { id: 'terms', placeholder: 'host-delay=20s', spellcheck: 'false' })
  const give = h('form', { class: 'card' }, h('label', { for: 'terms' }, 'A rule for this host'), rule,
    h('p', { class: 'quiet' }, 'host-delay=TIME, max-per-host=N, exclude or exclude=no.'),
    h('div', { class: 'row' }, h('button', { class: 'strong' }, 'Save rule')))
  give.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (!rule.value.trim()) return rule.focus()
    try {
      tell(await act('rule', bare + ' ' + rule.value.trim()))
      rule.value = ''
      p.ask()
    } catch (e) {
      tell(e.message, true)
    }
  })
  const explained = explainBox(`https://${bare}/`)
  return {
    element: h('div', {}, h('p', {}, h('a', { href: '#/hosts' }, 'All hosts')), h('h1', { class: 'title name' }, name), note,
      h('section', { class: 'facts' }, h('div', {}, h('h2', {}, 'This host'), facts),
        h('div', {}, h('h2', {}, 'Why it is not asked now'), waits, give)),
      h('section', {}, queue.element), h('section', {}, explained.element)),
    update() {},
    close: p.close,
  }
}

// domains shows those with the largest weights, if the order of visits is by domains: --visit ranked.
export function domains() {
  const t = table({
    caption: 'Domains by their weight (--visit ranked)', key: (d) => d.domain, keepsOrder: true,
    columns: [
      { title: 'Domain', text: (d) => d.domain, class: 'name' },
      { title: 'Weight', number: true, text: (d) => d.weight.toFixed(2) + (d.budget ? ', by --budgets' : ''), value: (d) => d.weight },
      { title: 'Pages that had their turn', number: true, text: (d) => count(d.pages), value: (d) => d.pages },
      { title: 'Queued', number: true, text: (d) => count(d.queued), value: (d) => d.queued },
    ],
  })
  t.element.dataset.name = 'domains'
  const element = h('section', { hidden: true }, t.element)
  const p = poll(() => '/domains?limit=12', 10000, (answer) => {
    const all = answer.domains || []
    element.hidden = all.length === 0
    t.update(all)
  }, () => {})
  return { element, close: p.close }
}
