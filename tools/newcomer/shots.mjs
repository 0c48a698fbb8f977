// A screenshot of a page of the dashboard: node shots.mjs ADDRESS FILE PAGE
import { createRequire } from 'node:module'
const { chromium } = createRequire(new URL('../dashboardcheck/', import.meta.url))('playwright-core')

const [address, file, name] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1100, height: 760 } })
await page.goto(address)
await page.locator('[data-name=waiting]:not(:text-is("…"))').waitFor()
await page.getByRole('link', { name, exact: true }).click()
await page.waitForTimeout(4000) // the charts and tables get some points
await page.screenshot({ path: file })
await browser.close()
