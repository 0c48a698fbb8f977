// Has crawlee's CheerioCrawler follow every link from the seeds through a proxy: the driver of a comparison, see tools/others.
//
//   node crawl.mjs PROXY SEEDS AT-ONCE DELAY-SECONDS     or     node crawl.mjs --version
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { CheerioCrawler, Configuration, LogLevel, ProxyConfiguration, log } from '@crawlee/cheerio';

if (process.argv[2] === '--version') {
  const { version } = createRequire(import.meta.url)('@crawlee/cheerio/package.json');
  console.log(`crawlee ${version} on node ${process.version}`);
  process.exit(0);
}
const [proxy, seeds, atOnce, delay] = process.argv.slice(2);
log.setLevel(LogLevel.ERROR);

// The elements whose references are followed, the same for all drivers.
const linked = 'a[href], area[href], link[href], img[src], iframe[src], embed[src], img[srcset]';

// references returns what a page refers to, as http URLs.
function references($, url) {
  const base = new URL($('base[href]').attr('href') ?? '', url);
  const found = new Set();
  const add = (ref) => {
    if (ref && URL.canParse(ref, base)) {
      const to = new URL(ref, base);
      if (to.protocol === 'http:') found.add(to.href);
    }
  };
  $(linked).each((_, element) => {
    const e = $(element);
    add(e.attr('href'));
    add(e.attr('src'));
    for (const candidate of (e.attr('srcset') ?? '').split(',')) add(candidate.trim().split(/\s/)[0]);
  });
  return [...found];
}

const crawler = new CheerioCrawler({
  proxyConfiguration: new ProxyConfiguration({ proxyUrls: [proxy] }),
  respectRobotsTxtFile: true,
  sameDomainDelaySecs: Number(delay),
  minConcurrency: Number(atOnce),
  maxConcurrency: Number(atOnce),
  additionalMimeTypes: ['image/png', 'text/css', 'application/pdf'],
  async requestHandler({ $, request, enqueueLinks }) {
    if (!$) return; // an image, a style sheet, a document
    await enqueueLinks({ urls: references($, request.loadedUrl), strategy: 'all' });
  },
}, new Configuration({ persistStorage: false })); // the queue stays in memory, which is the cheaper way

await crawler.run(readFileSync(seeds, 'utf8').split('\n').filter((line) => line !== ''));
