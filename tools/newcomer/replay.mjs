// Opens a WACZ file in ReplayWeb.page, as orbweaver view --replayweb serves it, and takes a screenshot:
// node replay.mjs REPLAYWEBPAGE FILE.wacz URL TITLE IMAGE
//
// REPLAYWEBPAGE is the unpacked npm package. It fails unless the replayed page has the title.
import { launch, replayed, serve } from '../replaycheck/player.mjs'

const [pack, wacz, url, title, image] = process.argv.slice(2)
const { address, close } = await serve(pack, wacz)
const browser = await launch()
const page = await browser.newPage({ viewport: { width: 1100, height: 640 } })
await page.goto(`${address}?${new URLSearchParams({ url })}`)
const said = await replayed(page, url).then((frame) => frame.title(), (e) => e.message)
await page.waitForTimeout(3000) // styles and images
await page.screenshot({ path: image })
await browser.close()
close()
if (!said.includes(title)) console.error(`replay: no page with the title ${title}: ${said}`)
process.exit(said.includes(title) ? 0 : 1)
