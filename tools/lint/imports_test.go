package lint

import (
	"fmt"
	"path"
	"strings"
)

// homes says where a package from outside may be imported: a module, or a package of the standard library that has no
// business everywhere. The longest entry that fits the import speaks. Homes are packages, single files, or, with a
// slash at the end, everything below a directory. Tests obey too, unless the homes contain the word tests.
var homes = map[string]string{
	// The codec and the wire.
	"github.com/valyala/fasthttp": "engine/net/fetch internal/trial/load",
	"github.com/miekg/dns": "dnsres dnsres/dnstest bench/simnet internal/trial/load bench/scenario/crawl/names_test.go " +
		"warc/replay/foreign_test.go",
	"github.com/andybalholm/brotli":   "engine/net/fetch/coding engine/net/fetch warc/coding bench/hostile tests",
	"golang.org/x/net/nettest":        "tests",
	"github.com/hashicorp/memberlist": "engine/peering/membership engine/peering/membership/membershiptest",
	"github.com/hashicorp/raft":       "engine/peering/consensus",
	"github.com/hashicorp/go-hclog":   "engine/peering/consensus",
	"google.golang.org/grpc":          "engine/peering/transport",
	"google.golang.org/genproto":      "engine/peering/transport",
	"google.golang.org/protobuf":      "engine/peering/transport tests",

	// Bytes on disk.
	"github.com/google/pprof": "bench/",
	"github.com/klauspost/compress": "warc/member warc/coding engine/net/fetch engine/net/fetch/coding derive/extracts " +
		"derive/corpus derive/graph derive/minhash bench/ tests",
	"github.com/edsrzf/mmap-go":        "internal/vfs",
	"github.com/parquet-go/parquet-go": "derive/columns derive/corpus tests",
	"github.com/gofrs/flock":           "internal/vfs",
	"github.com/google/uuid":           "warc",
	"golang.org/x/sys":                 "internal/cputime internal/vfs engine/net/fetch internal/trial/load",
	// Fingerprints of URLs and hosts, digests of pages, and the checksums of our own formats.
	"github.com/klauspost/cpuid": "internal/sha1pair",
	"github.com/zeebo/xxh3": "internal/urlx engine engine/ sieve sieve/fpcache virtualize virtualize/diskq " +
		"workbench workbench/cold dnsres internal/simhash derive/language derive/tokens " +
		"internal/simweb internal/simweb/ bench/ tests",

	// Text.
	"golang.org/x/net/html": "engine/page/parse warc/replay internal/simweb/origin tools/conformance tools/skeleton " +
		"tools/realsite tests",
	"golang.org/x/net/idna":         "internal/urlx engine/page/filter internal/simweb tests",
	"golang.org/x/net/publicsuffix": "engine/page/filter derive/columns",
	"golang.org/x/text": "engine/page/parse internal/urlx internal/simhash derive/language " +
		"internal/cli/console tests",
	"golang.org/x/term":           "internal/cli/console",
	"github.com/creack/pty":       "tests",
	"github.com/expr-lang/expr":   "engine/page/filter",
	"github.com/nlnwa/whatwg-url": "tests", // a second opinion on urlx

	// The outside of the program.
	"github.com/alecthomas/kong":                     "cmd/ internal/cli/command",
	"github.com/KimMachineGun/automemlimit/memlimit": "cmd/",
	"github.com/pelletier/go-toml/v2":                "cmd/ internal/cli/command",
	"github.com/minio/minio-go":                      "engine/operate/upload/objectstore",
	"github.com/johannesboyne/gofakes3":              "tests",
	"github.com/fsnotify/fsnotify":                   "engine/operate/inbox",
	"github.com/prometheus/client_golang":            "engine/operate/control",
	"golang.org/x/sync": "engine/state/lifecycle engine/check/fsck engine/durable/restore engine/peering/transport " +
		"bench/ tests",
	"github.com/molecule-man/go-brrr": "tests",
	"github.com/google/go-cmp":        "tests",
	"go.uber.org/goleak":              "tests",
	"testing": "tests derive/derivetest internal/vfs/vfstest bench/scenario/testbed " +
		"internal/golden",
	"testing/synctest": "tests bench/scenario/testbed",
	"os/exec": "cmd/ internal/trial/load bench/ tools/others tools/hostile tools/realsite " +
		"tools/dnscheck tests",
	"os/signal": "cmd/ internal/trial/load tools/others tools/hostile tools/realsite",
	"flag": "tools/others tools/realsite tools/skeleton internal/golden " +
		"bench/scenario/testbed tests",
	"log":    "",
	"plugin": "",
	"reflect": "cmd/ internal/cli/ internal/golden internal/options engine/state/counters engine/operate/report " +
		"engine/operate/control/metrics.go tests",
	"unsafe": "internal/mpmc internal/vfs/fault.go internal/trial/load/system_linux.go tests",
	"net/url": "engine/operate/upload/objectstore engine/net/fetch/options.go engine/operate/control/cdx.go " +
		"engine/peering/identity " +
		"warc/cdxj warc/recordread.go cmd/ bench/ tools/realsite tools/skeleton tests",
	"net/http": "engine/operate/upload/objectstore engine/operate/control engine/operate/control/dashboard " +
		"engine/net/cookie/cookie.go " +
		"warc/replay internal/trial/load bench/scenario/testbed cmd/ tools/realsite tools/dnscheck tests",
	"net/http/httptest":      "tests",
	"net/http/pprof":         "engine/operate/control",
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
	"net/http":                        "engine/net/fetch is the client, engine/operate/control and warc/replay serve",
	"github.com/valyala/fasthttp":     "engine/net/fetch wraps the codec; take a Page",
	"github.com/miekg/dns":            "ask a dnsres.Resolver; script answers with dnsres/dnstest",
	"github.com/hashicorp/memberlist": "engine/peering/membership knows which agents are alive: ask a membership.Service",
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
