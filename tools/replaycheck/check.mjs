// Opens the archive of museum.mjs, crawled on two days, in ReplayWeb.page, and says what is not as it was:
// node check.mjs REPLAYWEBPAGE CRAWL PICTURES FILE...
//
// FILE is a WACZ, a list of several, or a directory of WARC files. PICTURES gets a screenshot of the first page of each. The exit status
// is 1 if something is not as it was.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { launch, replayed, serve } from './player.mjs'

const [pack, crawl, pictures, ...sources] = process.argv.slice(2)
mkdirSync(pictures, { recursive: true })
const browser = await launch()
let complaints = 0

// times of the two captures of a page, from the indexes of the crawl.
const warc = join(crawl, 'warc')
const lines = readdirSync(warc).filter((name) => name.endsWith('.cdxj')).sort()
  .flatMap((name) => readFileSync(join(warc, name), 'utf8').split('\n'))
function times(url) {
  return lines.filter((line) => line.includes(`{"url":"${url}",`)).map((line) => line.split(' ')[1])
}

const text = (frame) => frame.locator('body').innerText()
const firstLine = async (frame) => (await text(frame)).split('\n')[0]

const titled = async (frame) => `${await frame.title()}; ${await text(frame)}`

async function start(frame) {
  const heading = await frame.locator('h1').evaluate((h) => {
    const style = getComputedStyle(h)
    return `${style.fontSize}, ${style.color}, ${style.backgroundImage.replace(/^url\("(.*_\/)?|"\)$/g, '')}`
  })
  const images = await frame.locator('img').evaluateAll((all) => all.map((i) => i.naturalWidth).join())
  await frame.getByText('added by a script of').waitFor({ timeout: 120000 }).catch(() => {})
  return [heading, images, await frame.locator('#by-script').innerText(), await frame.frameLocator('#hours').locator('body').innerText()].join('; ')
}

async function news(frame) {
  const colour = await frame.locator('#day').evaluate((image) => {
    const canvas = image.ownerDocument.createElement('canvas').getContext('2d')
    canvas.drawImage(image, 0, 0)
    return canvas.getImageData(5, 5, 1, 1).data.join()
  })
  return [await frame.title(), await text(frame), colour].join('; ')
}

// What each page shows: how it is looked at, and what is to be seen on each day.
const asItWas = '41px, rgb(1, 2, 3), http://museum.test/bg.png; 60,60; added by a script of http://museum.test/; geöffnet von zehn bis sechs'
const pages = {
  '': [start, asItWas, asItWas],
  'kept': [firstLine, 'a page that is kept', 'a page that is kept'], // day 2: a revisit, from 304
  'same': [firstLine, 'the same at two addresses', 'the same at two addresses'], // a revisit of another URL
  'twin': [firstLine, 'the same at two addresses', 'the same at two addresses'],
  'news': [news, 'News of day 1; exhibition number 1; 1,0,0,255', 'News of day 2; exhibition number 2; 2,0,0,255'],
  'new?room=1': [firstLine, 'this page has moved here', 'this page has moved here'],
  'cyrillic': [titled, 'Привет; Музей', 'Привет; Музей'], // the header has the character set
  'meta': [titled, 'Привет; Музей', 'Привет; Музей'],
  'plain-utf-8': [titled, 'Münzen; Gemälde', 'Münzen; Gemälde'],
  's%C3%BCd/?q=a+b&x=%2F': [firstLine, 'a query is part of the address', 'a query is part of the address'],
  'list.txt': [firstLine, 'one', 'one'],
  'nowhere': [firstLine, 'not found', 'not found'],
}

// open shows a page, and the links of the first one are clicked.
async function open(page, server, url, ts) {
  await page.goto(`${server.address}?${new URLSearchParams({ url, ts })}`)
  return replayed(page, url)
}

let shown = 0
for (const source of sources) {
  const server = await serve(pack, source)
  const context = await browser.newContext({ viewport: { width: 1000, height: 600 } })
  const page = await context.newPage()
  page.setDefaultTimeout(300000) // the machine may have other work
  const check = async (what, look, want) => {
    const got = await look().catch((e) => e.message.split('\n')[0])
    shown++
    if (got === want) return
    complaints++
    console.log(`replaycheck: COMPLAINT: ${basename(source)}, ${what}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`)
  }
  for (const [path, [look, ...days]] of Object.entries(pages)) {
    const url = 'http://museum.test/' + path
    for (const [day, ts] of times(url).entries()) {
      await check(`${url} of day ${day + 1}`, async () => look(await open(page, server, url, ts)), days[day])
      if (path === '') await page.screenshot({ path: join(pictures, `${basename(source)}-${day + 1}.png`) })
    }
  }
  await check('a link to a page that has moved', async () => {
    const frame = await open(page, server, 'http://museum.test/', times('http://museum.test/')[1])
    await frame.getByText('moved').click()
    return firstLine(await replayed(page, 'http://museum.test/new?room=1'))
  }, 'this page has moved here')
  await check('a page that was not crawled', async () => {
    return firstLine(await open(page, server, 'http://museum.test/never', ''))
  }, source === crawl ? 'Not in the archive' : 'Archived Page Not Found')
  await check('a link of our own view', async () => {
    await page.goto(`${server.list}http://museum.test/news`)
    await page.getByText('with scripts').click()
    return firstLine(await replayed(page, 'http://museum.test/news'))
  }, 'exhibition number 2')
  await context.close()
  server.close()
}
await browser.close()
console.log(`replaycheck: ReplayWeb.page has shown ${shown} pages of ${sources.length} archives, ${complaints} not as they were`)
process.exit(complaints ? 1 : 0)
