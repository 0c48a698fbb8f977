// The first page: how fast, why not faster, what is queued, and whether all is well.
import { h, say } from './dom.js'
import { get } from './api.js'
import { bars } from './bars.js'
import { chart } from './chart.js'
import { crawlCard, nextSteps } from './crawl.js'
import { doctor } from './doctor.js'
import { failures } from './failures.js'
import { figureList, figures } from './figures.js'
import { domains, worst } from './hosts.js'
import { table } from './table.js'
import { hasEnded, pagesOf } from './state.js'
import { byteRate, bytes, count, counted, isAlike, parts, rate, seconds } from './format.js'

// spans are what charts show: name, title, seconds between two drawings.
const spans = [['10m', '10 minutes', 3], ['1h', '1 hour', 10], ['24h', '1 day', 60], ['168h', '1 week', 300]]

// overview is the first page: of a running crawl, or the last state of one that has ended.
export function overview(_, now) {
  const ended = hasEnded(now)
  const head = ended ? endedHead() : runningHead()
  const main = figures([
    ['Pages a second', 'rates.pages_per_second', (n) => rate(ended ? pagesOf(n.report) / Math.max(n.report.wall_seconds, 1) : n.rates.pages_per_second)],
    ['Received', 'rates.received_bytes_per_second', (n) => (ended ? bytes(n.report.bytes_received) : byteRate(n.rates.received_bytes_per_second))],
    ['Pages stored', 'pages_stored', (n) => count(n.report.pages_stored)],
    ['URLs queued', 'urls_queued', (n) => count(n.report.urls_queued)],
    ['Hosts', 'hosts_known', (n) => count(n.report.hosts_known)],
    ended ? ['Took', 'wall_seconds', (n) => seconds(n.report.wall_seconds)]
      : ['Retries a second', 'rates.retries_per_second', (n) => rate(n.rates.retries_per_second)],
  ], 'figures')
  const charts = [
    chart('Pages a second', 'pages_per_second', rate), chart('Received', 'received_bytes_per_second', byteRate, 1024),
    chart('URLs queued', 'urls_queued', count), chart('Exchanges under way', 'active_fetches', count),
    chart('Retries a second', 'retries_per_second', rate), chart('Processor cores', 'cpu_cores', rate),
  ]
  const values = {
    pages_per_second: (n) => n.rates.pages_per_second, received_bytes_per_second: (n) => n.rates.received_bytes_per_second,
    urls_queued: (n) => n.report.urls_queued, active_fetches: (n) => n.report.active_fetches,
    retries_per_second: (n) => n.rates.retries_per_second, cpu_cores: (n) => n.rates.cpu_cores,
  }
  const history = follower(charts, ended ? [['all', 'the whole crawl', 300], ...spans] : spans, ended)
  const distributions = ended ? [] : [
    bars('Gaps between two requests to a site', 'politeness_gap_seconds', seconds), bars('Time to the first byte', 'first_byte_seconds', seconds),
    bars('Sizes of bodies', 'response_body_bytes', bytes),
  ]
  const hostLists = ended ? [] : [
    worst('Longest queues', 'queue', 'queued'), worst('Most errors', 'errors', 'errors'), worst('Longest delays', 'delay', 'delay'),
  ]
  const failed = failures()
  const largest = ended ? null : domains()
  const lists = [
    named('Responses', 'Status', 'statuses'), named('Outcomes of URLs', 'Outcome', 'outcomes'),
    named('Media types', 'Type', 'media_types'), named('Pages by links from a seed', 'Links', 'depths', (name) => parseInt(name, 10)),
    named('Links that were not admitted', 'Reason', 'dropped'), named('Certificates that do not verify', 'Fault', 'certificate_faults'),
    named('Skipped as parts of traps', 'Rule', 'skipped'),
  ]
  const facts = [
    figureList('URLs', [
      ['Found in pages', 'urls_found', count], ['Admitted', 'urls_admitted', count], ['Fetched', 'urls_fetched', count],
      ['In flight', 'urls_in_flight', count], ['Unchanged pages', 'pages_unchanged', count], ['Revisits stored', 'revisits_stored', count],
      ['Denied by robots.txt', 'robots_denied', count],
    ]),
    figureList('Network', [
      ['Exchanges under way', 'active_fetches', count], ['Exchanges', 'attempts', count], ['Repeated', 'retries', count],
      ['Received', 'bytes_received', bytes], ['Connections reused', 'connections_reused', count],
      ['IP addresses known', 'ips_known', count], ['IP addresses due', 'front', count], ['Addresses slowed', 'ip_slowdowns', count],
    ]),
    figureList('Names', [
      ['Hosts without an address yet', 'dns.hosts_unresolved', count], ['Look-ups', 'dns.lookups', count], ['Answered by the cache', 'dns.cache_hits', count],
      ['Found', 'dns.found', count], ['Not found', 'dns.not_found', count], ['No answer', 'dns.faults', count],
      ['Messages to name servers', 'dns.messages', count], ['Timed out', 'dns.timeouts', count],
    ]),
    figureList('This machine', [
      ['Memory of the process', 'memory_bytes', bytes], ['Peak', 'rss_peak_bytes', bytes], ['Page buffers', 'page_memory_bytes', bytes],
      ['Queues in memory', 'workbench_bytes', bytes], ['Processor time', 'cpu_seconds', seconds], ['Running for', 'wall_seconds', seconds],
      ['Archive', 'bytes_stored', bytes], ['Free on its disk', 'disk_free_bytes', bytes], ['A sync takes', 'sync_seconds', seconds],
    ]),
    figureList('Safety', [
      ['Checkpoints', 'checkpoints', count], ['Age of the last one', 'checkpoint_age_seconds', seconds], ['Longest pause for one', 'checkpoint_pause_most_seconds', seconds],
      ['Pauses for a full disk', 'disk_pauses', count], ['Faults of this machine', 'local_faults', count],
      ['Lost lines of crawl.log', 'log_lines_lost', count], ['Parser faults', 'parse_faults', count],
      ['Pass', 'pass', count], ['Resumed', 'resumed', count],
    ]),
  ]
  const element = h('div', {}, head.element, main.element,
    h('section', {}, h('div', { class: 'row between' }, h('h2', {}, 'Over time'), history.choice),
      h('div', { class: 'charts' }, charts.map((c) => c.element))),
    ended ? null : h('section', {}, h('h2', {}, 'Politeness and speed, in this run'), h('div', { class: 'charts' }, distributions.map((d) => d.element))),
    ended ? null : h('section', { class: 'tables' }, hostLists.map((l) => l.element)),
    largest && largest.element,
    failed.element,
    h('section', { class: 'tables' }, lists.map((l) => l.element)),
    h('section', { class: 'facts' }, facts.map((f) => f.element)))
  return {
    element,
    update(now) {
      head.update(now)
      main.update(now)
      for (const c of charts) c.say(ended ? undefined : values[c.name](now))
      for (const d of distributions) d.update(now)
      for (const f of facts) f.update((name) => valueOf(now, name))
      for (const l of lists) l.update(now)
    },
    close() {
      history.close()
      head.close()
      failed.close()
      if (largest) largest.close()
      for (const l of hostLists) l.close()
    },
  }
}

// runningHead says what limits a running crawl. It has a fixed height where its text changes each second, so that what
// is below stands still.
function runningHead() {
  const limits = doctor()
  const headline = h('p', { class: 'waiting' }, '…')
  const detail = h('p', { class: 'detail' })
  const waiting = h('div', { 'data-name': 'waiting' }, headline, detail)
  const end = h('p', { class: 'quiet end', 'data-name': 'end.sentence' }, '')
  const card = crawlCard()
  return {
    element: h('section', { class: 'hero' },
      h('div', {}, h('h1', {}, 'Why not faster?'), waiting, limits.element, end), card.element),
    update(now) {
      const [what, rest] = parts(now.report.waiting || '')
      say(headline, what)
      say(detail, rest)
      waiting.title = now.report.waiting || ''
      const [about, reason] = parts(now.end.sentence || '')
      say(end, isAlike(parts(reason)[0], what) ? about : now.end.sentence)
      limits.update(what)
      card.update(now)
    },
    close: limits.close,
  }
}

// endedHead says how a crawl has ended, and what to do with it.
function endedHead() {
  const headline = h('p', { class: 'waiting', 'data-name': 'waiting' }, '…')
  const detail = h('p', { class: 'detail' })
  const next = nextSteps()
  const card = crawlCard()
  return {
    element: h('section', { class: 'hero' },
      h('div', {}, h('h1', {}, 'How it ended'), headline, detail, next.element), card.element),
    update(now) {
      const r = now.report
      const state = r.state.charAt(0).toUpperCase() + r.state.slice(1)
      say(headline, r.reason && r.reason !== r.state ? `${state}: ${r.reason}` : state)
      const at = r.written_at ? `Its last report is of ${r.written_at.replace('T', ' ').replace('Z', ' UTC')}. ` : ''
      say(detail, `${at}${r.urls_queued ? `${counted(r.urls_queued, 'URL is', 'URLs are')} still queued.` : 'Nothing is queued.'}`)
      next.update(now)
      card.update(now)
    },
    close() {},
  }
}

// valueOf is a figure by its name: of the report, of a part of it (part.name), or beside it.
function valueOf(now, name) {
  const [part, of] = name.split('.')
  return of ? (now.report[part] || {})[of] : now.report[part] ?? now[part]
}

// named is a table of a map of the report. place says where a name stands; by default the largest number is first.
function named(title, what, id, place) {
  const by = { title: 'URLs', number: true, text: ([, n]) => count(n), value: ([, n]) => n }
  const names = { title: what, text: ([name]) => name, value: place && (([name]) => place(name)) }
  const t = table({
    caption: title, key: ([name]) => name, order: place ? { column: names, down: false } : { column: by, down: true },
    columns: [names, by],
  })
  t.element.dataset.name = id
  return {
    element: t.element,
    update(now) {
      const rows = Object.entries(now.report[id] || {})
      t.element.hidden = rows.length === 0
      t.update(rows)
    },
  }
}

// follower draws the charts again and again, each span in its own rhythm.
function follower(charts, spans, ended) {
  let span = spans[0], timer = 0, closed = false
  const names = charts.map((c) => c.name).join(',')
  const buttons = spans.map((s) => h('button', { type: 'button', 'aria-pressed': String(s === span), onclick: () => choose(s) }, s[1]))
  const choice = h('div', { class: 'choice', role: 'group', 'aria-label': 'Time shown' }, buttons)

  function choose(s) {
    span = s
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(spans[i] === s)))
    clearTimeout(timer)
    draw()
  }

  async function draw() {
    const asked = span
    if (!document.hidden) {
      try {
        const series = await get(`/history?span=${span[0]}&points=360&names=${names}`, null, Math.ceil(span[2] / 2))
        if (!closed && asked === span) for (const c of charts) c.draw(series, ended)
      } catch { /* the frame says that there is no connection */ }
    }
    if (!closed && asked === span) timer = setTimeout(draw, span[2] * 1000)
  }

  draw()
  return { choice, close() { closed = true; clearTimeout(timer) } }
}
