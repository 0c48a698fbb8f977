// Which crawl this is, what limits it has, and how near they are.
import { h, say } from './dom.js'
import { bytes, count, seconds } from './format.js'
import { hasEnded, pagesOf } from './state.js'

// limits are those of a whole crawl: title, flag, how much is used, how much there may be, form of both.
const limits = [
  ['Pages', '--max-pages', pagesOf, (l) => l.max_pages, count],
  ['Time', '--max-time', (r) => r.wall_seconds, (l) => l.max_time_seconds, seconds],
  ['Archive', '--max-disk, with queues and logs', (r) => r.bytes_stored, (l) => l.max_disk_bytes, bytes],
]

// crawlCard is a card with facts of the crawl.
export function crawlCard() {
  const dir = h('dd', { class: 'mono', 'data-name': 'dir' }, '–')
  const began = h('dd', { 'data-name': 'started_at' }, '–')
  const since = h('dt', {}, 'Running since')
  const scope = h('dd', { class: 'mono', 'data-name': 'scope' }, '–')
  const view = h('dd', { class: 'mono' })
  const pages = h('div', { hidden: true }, h('dt', {}, 'See its pages'), view)
  const until = h('dd', { 'data-name': 'max_time_date' })
  const ends = h('div', { hidden: true, title: '--max-time' }, h('dt', {}, 'Ends at'), until)
  const none = h('p', { class: 'quiet' }, 'It has no limit of pages, time or disk.')
  const bars = limits.map(([title, flag, used, most, form]) => {
    const text = h('span', { class: 'figure' })
    const meter = h('progress', { max: '1', value: '0', 'aria-label': title })
    const box = h('div', { class: 'limit', title: flag, hidden: true }, h('div', { class: 'row between' }, h('span', {}, title), text), meter)
    return {
      box,
      update(r) {
        const l = r.limits ? most(r.limits) : 0
        if (box.hidden = !l) return false
        const share = Math.min(used(r) / l, 1)
        meter.value = share
        say(text, `${form(used(r))} of ${form(l)}, ${Math.floor(100 * share)} %`)
        return true
      },
    }
  })
  const element = h('div', { class: 'card crawl' },
    h('h2', {}, 'This crawl'),
    h('dl', { class: 'list' }, h('div', {}, h('dt', {}, 'Directory'), dir), h('div', {}, since, began),
      h('div', {}, h('dt', {}, 'Scope'), scope), ends, pages),
    bars.map((b) => b.box), none)
  return {
    element,
    update(now) {
      const r = now.report
      say(dir, now.name || r.dir || '–')
      say(since, hasEnded(now) ? 'Last run began' : 'Running since')
      const pass = r.pass > 1 ? `, pass ${r.pass}` : ''
      say(began, `${(r.started_at || '–').replace('T', ' ').replace('Z', ' UTC')}${pass}${r.resumed ? `, resumed ${r.resumed === 1 ? 'once' : r.resumed + ' times'}` : ''}`)
      say(scope, r.scope || '–')
      pages.hidden = hasEnded(now)
      say(view, `orbweaver view ${now.name || r.dir || 'DIR'}`)
      const shown = bars.map((b) => b.update(r)).filter((is) => is).length
      const date = r.limits?.max_time_date
      ends.hidden = !date
      say(until, date ? date.replace('T', ' ') : '')
      none.hidden = shown > 0 || Boolean(date) || hasEnded(now)
    },
  }
}

// nextSteps is a card with what to do with a crawl that has ended.
export function nextSteps() {
  const list = h('dl', { class: 'list steps' })
  let seen = ''
  return {
    element: h('div', { class: 'card crawl' }, h('h2', {}, 'What next'), list),
    update(now) {
      const dir = now.name || now.report.dir || 'DIR'
      if (dir + now.report.state === seen) return
      seen = dir + now.report.state
      const done = now.report.state === 'finished'
      const steps = [
        ['See its pages', `orbweaver view ${dir}`], ['Keep its report', `${dir}/reports/index.html`],
        ['Prove the archive', `orbweaver fsck ${dir}`], ['Pack it as WACZ', `orbweaver wacz ${dir} -o archive.wacz`],
        done ? ['Crawl it again', `orbweaver crawl --dir ${dir} --refresh`] : ['Go on with it', `orbweaver crawl --dir ${dir}`],
      ]
      list.replaceChildren(...steps.map(([what, how]) => h('div', {}, h('dt', {}, what), h('dd', { class: 'mono' }, how))))
    },
  }
}
