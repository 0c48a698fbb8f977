// Whether the crawl runs, and what it is called.

// hasEnded says whether no process runs the crawl.
export function hasEnded(now) {
  return !!now.ended || !['running', 'paused'].includes(now.report.state)
}

// nameOf is the last part of the directory of a crawl.
export function nameOf(now) {
  const dir = now.name || now.report.dir || ''
  return dir.replace(/\/+$/, '').replace(/.*\//, '') || dir
}

// pagesOf is the number of pages that count for --max-pages: without page requisites.
export function pagesOf(r) {
  const n = (name) => r[name] || 0
  return n('pages_stored') + n('revisits_stored') + n('pages_unchanged') - n('requisites_stored') - n('requisites_revisited')
}
