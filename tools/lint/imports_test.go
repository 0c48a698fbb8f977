package lint

import (
	"fmt"
	"path"
	"strings"
)

// base is what every package of level 1 and above may use: level 0.
const base = "internal/urlx internal/outcome internal/invariants internal/mpmc internal/notify internal/throttle " +
	"internal/vfs internal/extsort internal/options internal/mediatype internal/httphead"

// components and parts are level 1. The components are libraries of their own; the parts live under the engine.
const (
	rooms = "workbench workbench/cold workbench/frame workbench/itemqueue sieve sieve/fpcache virtualize " +
		"virtualize/diskq dnsres warc warc/block warc/cdxj warc/deflate warc/fixity warc/member " +
		"warc/inventory warc/repair warc/waczfs warc/zipnum"
	parts = `
		engine/catalogue
		engine/cookie
		engine/fetch
		engine/parse
		engine/pdflinks
		engine/queued
		engine/sitemap
		engine/robots
		engine/filter
		engine/novelty
		engine/wall
		engine/politeness
		engine/cluster/consensus
		engine/cluster/ownership
		engine/cluster/ring
		engine/cluster/addresslease
		engine/cluster/outbox
		engine/cluster/membership
		engine/cluster/transport
		engine/cluster/transport/transportpb
		engine/cluster/identity
		engine/dedup
	`
)

// below is the row of a package that may import what is not in a higher layer (layers_test.go).
const below = "below"

// importTable says which package may import which, tests included. Arrows go down only, and packages of
// level 1 do not know each other, save for the three arrows drawn here. A row that ends in /* speaks for every package
// below without a row. Standing orders beside the table: engine/control is imported by cmd alone, and cmd and tools
// by no package.
var importTable = []struct{ importer, may string }{
	// Level 0 leans on nothing but the standard library and its required modules.
	{"internal/invariants", ""},
	{"internal/cputime", ""},
	{"internal/inflate", ""},
	{"internal/jsontext", ""},
	{"internal/simhash", ""},
	{"internal/mediatype", ""},
	{"internal/httphead", ""},
	{"internal/words", ""},
	{"internal/textfile", ""},
	{"internal/mpmc", "internal/invariants"},
	{"internal/closers", ""},
	{"internal/histogram", ""},
	{"internal/notify", ""},
	{"internal/options", ""},
	{"internal/throttle", ""},
	{"internal/plural", ""},
	{"internal/sha1pair", ""},
	{"internal/vfs", "internal/invariants"},
	{"internal/extsort", "internal/vfs internal/invariants"},
	{"internal/vfs/faultfs", "internal/vfs internal/invariants"},
	{"internal/vfs/overlay", "internal/vfs"},
	{"internal/vfs/vfstest", "internal/vfs internal/invariants"},
	{"internal/urlx", "internal/invariants"},
	{"internal/outcome", ""},

	// Level 1, the components.
	{"workbench", base + " workbench/frame workbench/itemqueue"},
	{"workbench/frame", base},
	{"workbench/itemqueue", base},
	{"workbench/cold", base},
	{"sieve/fpcache", base},
	{"sieve", base + " sieve/fpcache"}, // the fingerprint cache is the sieve's porch
	{"virtualize/diskq", base},
	{"virtualize", base + " virtualize/diskq"}, // both are made of queues on disk
	{"dnsres", base},
	{"dnsres/dnstest", base + " dnsres"},
	{"warc/deflate", ""},
	{"warc/block", base},
	{"warc/cdxj", base + " internal/jsontext"},
	{"warc/member", base + " internal/inflate warc/arc warc/deflate"},
	{"warc/fixity", base},
	{"warc/arc", ""},
	{"warc/header", ""},
	{"warc/openindex", base + " warc/cdxj"},
	{"warc/filename", base + " warc/member"},
	{"warc", base + " warc/arc warc/block warc/cdxj warc/filename warc/fixity warc/header warc/member " +
		"warc/openindex"},
	{"warc/inventory", base + " warc warc/fixity"},
	{"warc/zipnum", base},
	{"warc/waczfs", base},
	{"warc/repair", base + " warc warc/cdxj warc/member"},
	{"warc/inputs", base + " internal/plural warc/filename"},
	{"warc/rewrite", base + " warc warc/block warc/header warc/member"},
	{"warc/coding", ""},
	{"warc/lookup", base + " warc warc/block warc/cdxj warc/member warc/openindex warc/waczfs warc/zipnum"},
	{"warc/cdxserver", "warc/lookup"},
	{"warc/replay", base + " internal/plural warc warc/cdxserver warc/coding warc/lookup"},
	{"warc/warctool", base + " warc warc/block warc/cdxj warc/coding warc/fixity warc/inputs " +
		"warc/inventory warc/lookup warc/member warc/zipnum"},

	// Level 1, the parts of the engine.
	{"engine/catalogue", base},
	{"engine/cookie", base + " internal/textfile"},
	{"engine/fetch", base + " internal/inflate internal/sha1pair engine/fetch/addrguard engine/fetch/coding " +
		"engine/fetch/buffers engine/fetch/framing engine/fetch/gateway engine/fetch/headerline engine/fetch/socks " +
		"engine/fetch/certificate engine/bodyfile engine/bandwidth engine/underway internal/vfs"},
	{"engine/fetch/gateway", "internal/outcome"},
	{"engine/wall", "engine/fetch engine/fetch/coding engine/filter"},
	{"engine/fetch/headerline", ""},
	{"engine/fetch/certificate", ""},
	{"engine/bodyfile", "internal/vfs"},
	{"engine/bandwidth", "internal/notify"},
	{"engine/underway", ""},
	{"engine/fetch/buffers", "internal/invariants"},
	{"engine/fetch/framing", ""},
	{"engine/fetch/addrguard", base},
	{"engine/fetch/socks", ""},
	{"engine/fetch/coding", "internal/inflate"},
	{"engine/parse/charref", ""},
	{"engine/parse/charguess", ""},
	{"engine/parse/jsonlinks", base + " internal/cputime"},
	{"engine/parse/linkfield", ""},
	{"engine/parse/playlist", base + " internal/cputime"},
	{"engine/parse/script", base + " internal/cputime"},
	// feeds and sitemaps are read by the same reader wherever they come from
	{"engine/parse", base + " engine/parse/charguess engine/parse/charref engine/parse/jsonlinks engine/parse/linkfield " +
		"engine/parse/playlist engine/parse/script engine/pdflinks engine/sitemap"},
	{"engine/queued", base + " engine/parse"}, // the letter of a hop is that of its kind of link
	{"engine/sitemap", base},
	{"engine/pdflinks", "internal/inflate"},
	{"engine/robots", base},
	{"engine/robots/reading", base + " engine/fetch engine/fetch/coding engine/parse engine/robots"},
	{"engine/filter", base + " engine/bandwidth internal/textfile"},
	{"engine/cluster/membership", base},
	{"engine/cluster/membership/membershiptest", base + " engine/cluster/membership"},
	{"engine/novelty", base},
	{"engine/politeness", base},
	{"engine/cluster/transport", base + " engine/cluster/identity engine/cluster/transport/transportpb"},
	{"engine/cluster/transport/transportpb", base},
	{"engine/cluster/identity", base},
	{"engine/cluster/ownership", base + " engine/cluster/ring"},
	{"engine/cluster/consensus", base + " internal/notify"},
	{"engine/cluster/ring", base},
	{"engine/cluster/addresslease", base},
	{"engine/cluster/outbox", base + " virtualize/diskq"}, // its lines are queues on disk
	{"engine/dedup", base},

	// Level 2 alone imports all components. Level 3 looks at it from outside.
	{"engine", below},
	{"engine/*", below},

	// What is made of archives afterwards. A product knows package derive; no product knows another.
	{"derive", below},
	{"derive/*", below},

	// The judge must not use the defendant's arithmetic: the synthetic web and its network know nothing of the product.
	{"bench/simweb", "bench/simweb/draw bench/simweb/corpus"},
	{"bench/simweb/guest", ""},
	{"bench/simweb/draw", ""},
	{"bench/simweb/corpus", "bench/simweb/draw"},
	{"bench/simweb/content", "bench/simweb bench/simweb/draw bench/simweb/corpus"},
	{"bench/simweb/arrivals", "bench/simweb"},
	{"bench/simweb/judge", "bench/simweb bench/simweb/arrivals bench/simweb/content"},
	{"bench/simweb/origin", "bench/simweb bench/simweb/draw bench/simweb/corpus bench/simweb/content " +
		"bench/simweb/arrivals bench/simweb/judge bench/simweb/guest"},
	// The name server of the simulations knows nothing of the product.
	{"bench/simnet", "bench/simweb bench/simweb/arrivals bench/simweb/origin dnsres/dnstest"},
	{"bench/*", "*"},

	// Level 4. Tools may read the components, never the engine.
	{"cmd/orbweaver", "*"},
	{"cmd/orbweaver/*", "*"},
	{"tools/conformance", base + " " + rooms + " " + parts}, // it scores the parts, each alone
	{"tools/hostile", "bench/hostile"},                      // the catalogue
	{"tools/*", base + " " + rooms},
}

// testKit may be imported by the tests of any package.
const testKit = "bench/golden derive/derivetest internal/cputime internal/invariants internal/vfs " +
	"internal/vfs/faultfs internal/vfs/vfstest dnsres/dnstest engine/cluster/membership/membershiptest"

func rowOf(dir string) (may string, found bool) {
	for _, row := range importTable {
		if row.importer == dir {
			return row.may, true
		}
	}
	for _, row := range importTable {
		if strings.HasSuffix(row.importer, "/*") && strings.HasPrefix(dir, strings.TrimSuffix(row.importer, "*")) {
			return row.may, true
		}
	}
	return "", false
}

func checkImports(h *tree) (faults []string) {
	for _, dir := range sorted(h.packages()) {
		if _, ok := rowOf(dir); !ok {
			faults = append(
				faults, dir+": no row in importTable: give it one in tools/lint/imports_test.go, and a place on its level",
			)
		}
	}
	for _, f := range h.files {
		may, ok := rowOf(f.dir)
		if !ok {
			continue
		}
		for _, spec := range f.ast.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			if !ours {
				continue
			}
			if why := whyNot(f, may, target); why != "" {
				faults = append(faults, fmt.Sprintf("%s: %s may not import %s: %s", h.at(spec), f.dir, target, why))
			}
		}
	}
	return append(faults, staleRows(h)...)
}

// whyNot returns "" when the file may import the target, and else what to do about it.
func whyNot(f *goFile, may, target string) string {
	switch {
	case f.test && target == f.dir: // an outside test of the package itself
		return ""
	case strings.HasPrefix(target, program+"/") && isProgram(f.dir):
		return ""
	case target == "cmd" || strings.HasPrefix(target, "cmd/") || strings.HasPrefix(target, "tools/"):
		return "programs and tools are leaves; move what is shared into a room"
	case target == "engine/control" && !isProgram(f.dir):
		return "only cmd opens the control port; ask the Engine itself"
	case may == "*" || hasWord(may, target):
		return ""
	case may == below && layerOf(target) <= layerOf(f.dir) && !strings.HasPrefix(target, "bench/"):
		return ""
	case f.test && hasWord(testKit, target):
		return ""
	case strings.HasPrefix(target, "bench/"):
		return "the product does not know its simulators; put the test into bench/scenario"
	case strings.HasPrefix(f.dir, "bench/sim"):
		return "the judge must not use the defendant's arithmetic; compute it anew"
	case target == "engine":
		return "nobody below knows the engine; take the three or four things you use as arguments"
	case hasWord(rooms+" "+parts, target):
		return "packages of one level do not know each other; " +
			"speak bytes, integers and times, and let the engine join the two"
	}
	return "arrows go down only; see importTable in tools/lint/imports_test.go"
}

// program is the package of the program; those below it are its commands.
const program = "cmd/orbweaver"

func isProgram(dir string) bool { return dir == program || strings.HasPrefix(dir, program+"/") }

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// staleRows finds rows for packages that are gone.
func staleRows(h *tree) (faults []string) {
	if !h.whole {
		return nil
	}
	dirs := h.packages()
	for _, row := range importTable {
		if _, ok := dirs[row.importer]; !ok && !strings.HasSuffix(row.importer, "/*") {
			faults = append(faults, "tools/lint: importTable has a row for "+row.importer+", which is gone: take it out")
		}
	}
	return faults
}

// homes says where a package from outside may be imported: a module, or a package of the standard library that has no
// business everywhere. The longest entry that fits the import speaks. Homes are packages, single files, or, with a
// slash at the end, everything below a directory. Tests obey too, unless the homes contain the word tests.
var homes = map[string]string{
	// The codec and the wire.
	"github.com/valyala/fasthttp": "engine/fetch bench/load",
	"github.com/miekg/dns": "dnsres dnsres/dnstest bench/simnet bench/load bench/scenario/crawl/names_test.go " +
		"warc/replay/foreign_test.go",
	"github.com/andybalholm/brotli":   "engine/fetch/coding engine/fetch warc/coding bench/hostile tests",
	"golang.org/x/net/nettest":        "tests",
	"github.com/hashicorp/memberlist": "engine/cluster/membership engine/cluster/membership/membershiptest",
	"github.com/hashicorp/raft":       "engine/cluster/consensus",
	"github.com/hashicorp/go-hclog":   "engine/cluster/consensus",
	"google.golang.org/grpc":          "engine/cluster/transport",
	"google.golang.org/genproto":      "engine/cluster/transport",
	"google.golang.org/protobuf":      "engine/cluster/transport tests",

	// Bytes on disk.
	"github.com/google/pprof": "bench/",
	"github.com/klauspost/compress": "warc/member warc/coding engine/fetch engine/fetch/coding derive/extracts " +
		"derive/corpus derive/graph derive/minhash bench/ tests",
	"github.com/edsrzf/mmap-go":        "internal/vfs",
	"github.com/parquet-go/parquet-go": "derive/columns derive/corpus tests",
	"github.com/gofrs/flock":           "internal/vfs",
	"github.com/google/uuid":           "warc",
	"golang.org/x/sys":                 "internal/cputime internal/vfs engine/fetch bench/load",
	// Fingerprints of URLs and hosts, digests of pages, and the checksums of our own formats.
	"github.com/klauspost/cpuid": "internal/sha1pair",
	"github.com/zeebo/xxh3": "internal/urlx engine engine/ sieve sieve/fpcache virtualize virtualize/diskq " +
		"workbench/frame workbench/cold dnsres internal/words derive/language derive/tokens " +
		"bench/ tests",

	// Text.
	"golang.org/x/net/html": "engine/parse warc/replay bench/simweb/origin tools/conformance tools/skeleton " +
		"tools/realsite tests",
	"golang.org/x/net/idna":         "internal/urlx engine/filter bench/simweb tests",
	"golang.org/x/net/publicsuffix": "engine/filter derive/columns",
	"golang.org/x/text": "engine/parse internal/urlx internal/words derive/language " +
		"cmd/orbweaver/internal/console tests",
	"golang.org/x/term":           "cmd/orbweaver/internal/console",
	"github.com/creack/pty":       "tests",
	"github.com/expr-lang/expr":   "engine/filter",
	"github.com/nlnwa/whatwg-url": "tests", // a second opinion on urlx

	// The outside of the program.
	"github.com/alecthomas/kong":                     "cmd/",
	"github.com/KimMachineGun/automemlimit/memlimit": "cmd/",
	"github.com/pelletier/go-toml/v2":                "cmd/",
	"github.com/minio/minio-go":                      "engine/upload/objectstore",
	"github.com/johannesboyne/gofakes3":              "tests",
	"github.com/fsnotify/fsnotify":                   "engine/inbox",
	"github.com/prometheus/client_golang":            "engine/control",
	"golang.org/x/sync": "engine/lifecycle engine/fsck engine/restore engine/cluster/transport " +
		"bench/ tests",
	"github.com/molecule-man/go-brrr": "tests",
	"github.com/google/go-cmp":        "tests",
	"go.uber.org/goleak":              "tests",
	"testing":                         "tests derive/derivetest internal/vfs/vfstest bench/scenario/testbed bench/golden",
	"testing/synctest":                "tests bench/scenario/testbed",
	"os/exec":                         "cmd/ bench/ tools/others tools/hostile tools/realsite tools/dnscheck tests",
	"os/signal":                       "cmd/ tools/others tools/hostile tools/realsite",
	"flag": "tools/others tools/realsite tools/skeleton bench/golden " +
		"bench/scenario/testbed tests",
	"log":    "",
	"plugin": "",
	"reflect": "cmd/ bench/golden internal/options engine/counters engine/report " +
		"engine/control/metrics.go tests",
	"unsafe": "internal/mpmc internal/vfs/fault.go bench/load/system_linux.go tests",
	"net/url": "engine/upload/objectstore engine/fetch/options.go engine/control/cdx.go engine/cluster/identity " +
		"warc/cdxj warc/recordread.go cmd/ bench/ tools/realsite tools/skeleton tests",
	"net/http": "engine/upload/objectstore engine/control engine/control/dashboard engine/cookie/cookie.go " +
		"warc/replay bench/load bench/scenario/testbed cmd/ tools/realsite tools/dnscheck tests",
	"net/http/httptest":      "tests",
	"net/http/pprof":         "engine/control",
	"golang.org/x/net/http2": "",
	"net/http/cgi":           "",
	"net/http/fcgi":          "",
	"net/http/httputil":      "tests",
	"net/rpc":                "",
	"net/rpc/jsonrpc":        "",
	"net/smtp":               "",
	"net/textproto":          "tests",
	"log/syslog":             "",
	"expvar":                 "",
	"golang.org/x/net/proxy": "",
	"github.com/valyala/fasthttp/fasthttputil": "tests",
}

// instead says what to write where a package is not at home.
var instead = map[string]string{
	"net/url":                         "urlx works on bytes and keeps the spelling; net/url allocates and respells",
	"net/http":                        "engine/fetch is the client, engine/control and warc/replay serve",
	"github.com/valyala/fasthttp":     "engine/fetch wraps the codec; take a Page",
	"github.com/miekg/dns":            "ask a dnsres.Resolver; script answers with dnsres/dnstest",
	"github.com/hashicorp/memberlist": "engine/cluster/membership knows which agents are alive: ask a membership.Service",
	"golang.org/x/sys":                "go through internal/vfs; if it lacks the call, add it there for every platform",
	"github.com/edsrzf/mmap-go":       "go through internal/vfs",
	"log":                             "return an error, count it in Stats, or write to the crawl log",
	"flag":                            "cmd reads all settings and hands them down as a Config",
	"testing":                         "the product does not know its tests; move the helper into a test or a test kit",
	"testing/synctest":                "the product does not know its tests; move the helper into a test or a test kit",
	"reflect":                         "write the fields out",
	"unsafe":                          "write it with slices and encoding/binary",
}

func checkHomes(h *tree) (faults []string) {
	for _, f := range h.files {
		for _, spec := range f.ast.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if strings.HasPrefix(imported, module+"/") {
				continue
			}
			entry, foreign := homeOf(imported)
			switch {
			case entry == "" && foreign:
				faults = append(
					faults,
					fmt.Sprintf(
						"%s: %s has no home: give it one in homes, in tools/lint/imports_test.go, and say in the commit why we need it",
						h.at(spec), imported,
					),
				)
			case entry != "" && !atHome(f, homes[entry]):
				say := instead[entry]
				if say == "" {
					say = "use the package that is its home, or widen the entry and say why"
				}
				faults = append(
					faults,
					fmt.Sprintf("%s: %s is not at home in %s (only in: %s): %s", h.at(spec), imported, f.dir, homes[entry], say),
				)
			}
		}
	}
	return faults
}

// homeOf finds the longest entry of homes that is the import or a parent of it. Packages of the standard library
// without an entry of their own are free.
func homeOf(imported string) (entry string, foreign bool) {
	first, _, _ := strings.Cut(imported, "/")
	foreign = strings.Contains(first, ".")
	for p := imported; p != "."; p = path.Dir(p) {
		if _, ok := homes[p]; ok && (foreign || p == imported) {
			return p, foreign
		}
	}
	return "", foreign
}

func atHome(f *goFile, list string) bool {
	for home := range strings.FieldsSeq(list) {
		switch {
		case home == "tests" && f.test, home == f.dir, home == f.path:
			return true
		case strings.HasSuffix(home, "/") && strings.HasPrefix(f.path, home):
			return true
		}
	}
	return false
}
