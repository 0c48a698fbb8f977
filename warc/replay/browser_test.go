package replay

import (
	"image"
	"image/color"
	"image/png"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// chromium runs the browser without a window on an address, and returns what it prints.
func chromium(t *testing.T, args ...string) string {
	t.Helper()
	name := os.Getenv("VIEW_BROWSER")
	if name == "" {
		t.Skip("VIEW_BROWSER names no browser: see make accept NAME=view")
	}
	args = append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + t.TempDir(), "--window-size=400,300",
		"--hide-scrollbars", "--timeout=10000",
	}, args...)
	cmd := exec.CommandContext(t.Context(), name, args...)
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v", err)
	}
	return out.String()
}

// colours counts the pixels of each colour in a picture.
func colours(t *testing.T, name string) map[color.RGBA]int {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[color.RGBA]int)
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[rgbaAt(picture, x, y)]++
		}
	}
	return counts
}

func rgbaAt(picture image.Image, x, y int) color.RGBA {
	r, g, b, a := picture.At(x, y).RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}
}

// In a browser, a page that came compressed and in chunks has its image and its style sheets, a revisit looks the same,
// a redirect is followed, another character set is read, and no script has run.
func TestBrowser_showsPages(t *testing.T) {
	server := httptest.NewServer(site(t))
	defer server.Close()
	for _, stamp := range []string{"20260102030405", "20260102030413"} {
		shot := filepath.Join(t.TempDir(), "shot.png")
		chromium(t, "--screenshot="+shot, server.URL+"/"+stamp+"/https://a.test/")
		counts := colours(t, shot)
		if blue, red := counts[color.RGBA{0, 0, 255, 255}], counts[color.RGBA{255, 0, 0, 255}]; blue < 3000 || red < 5000 {
			t.Errorf("%s: %d pixels of the image, %d of the style sheet", stamp, blue, red)
		}
	}
	for path, want := range map[string]string{
		"/20260102030405/https://a.test/":         "<title>Start</title>",
		"/20260102030405/https://a.test/old":      "moved here",
		"/20260102030414/https://a.test/new?x=1":  "moved here", // not modified
		"/20260102030405/https://a.test/cyrillic": "<title>Привет</title>",
		"/": "https://a.test/cyrillic",
	} {
		if got := chromium(t, "--dump-dom", server.URL+path); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", path, want, got)
		}
	}
}
