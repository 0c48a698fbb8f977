// Opens a WACZ file in ReplayWeb.page, served on loopback, and takes a screenshot:
// node replay.mjs REPLAYWEBPAGE FILE.wacz URL TITLE IMAGE
//
// REPLAYWEBPAGE is the unpacked npm package. It fails unless the replayed page has the title.
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
const { chromium } = createRequire(new URL('../dashboardcheck/', import.meta.url))('playwright-core')

const [player, wacz, url, title, image] = process.argv.slice(2)
const files = {
  '/ui.js': [player + '/ui.js', 'text/javascript'],
  '/replay/sw.js': [player + '/sw.js', 'text/javascript'],
  '/site.wacz': [wacz, 'application/wacz'],
}
const start = `<!doctype html><meta charset="utf-8"><script src="/ui.js"></script><style>body { margin: 0 }</style>
<replay-web-page style="display: block; height: 100vh" source="/site.wacz" replayBase="/replay/" embed="full"
  url="${url}"></replay-web-page>`

const server = createServer((request, response) => {
  const path = request.url.split('?')[0]
  if (path === '/') return response.setHeader('Content-Type', 'text/html').end(start)
  if (!files[path]) return response.writeHead(404).end()
  const [name, type] = files[path]
  const size = statSync(name).size
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range || '')
  let first = 0, last = size - 1
  if (range) {
    first = range[1] ? Number(range[1]) : size - Number(range[2])
    if (range[1] && range[2]) last = Math.min(last, Number(range[2]))
    response.setHeader('Content-Range', `bytes ${first}-${last}/${size}`)
  }
  response.writeHead(range ? 206 : 200, { 'Content-Type': type, 'Accept-Ranges': 'bytes', 'Content-Length': last - first + 1 })
  if (request.method === 'HEAD') return response.end()
  createReadStream(name, { start: first, end: last }).pipe(response)
})
await new Promise((done) => server.listen(0, '127.0.0.1', done))
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1100, height: 640 } })
await page.goto(`http://127.0.0.1:${server.address().port}/`)
let found = false
for (let second = 0; second < 60 && !found; second++) {
  await page.waitForTimeout(1000)
  for (const frame of page.frames()) {
    found ||= frame.url().endsWith(url) && (await frame.title().catch(() => '')).includes(title)
  }
}
await page.waitForTimeout(3000) // styles and images
await page.screenshot({ path: image })
await browser.close()
if (!found) console.error('replay: no page with the title ' + title)
process.exit(found ? 0 : 1)
