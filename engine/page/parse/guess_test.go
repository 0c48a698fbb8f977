package parse

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// phrases are some words in each of the character sets that can be told.
var phrases = []struct{ charset, text, path string }{
	{"windows-1251", "Все люди рождаются свободными и равными в своем достоинстве и правах", "/новости"},
	{"koi8-r", "Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства", "/новости"},
	{"iso-8859-5", "Каждый человек должен обладать всеми правами и всеми свободами", "/новости"},
	{"windows-1253", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα", "/νέα"},
	{"windows-1255", "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם", "/חדשות"},
	{"windows-1256", "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق وقد وهبوا عقلا وضميرا", "/أخبار"},
	{"windows-874", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ", "/ข่าว"},
	{"shift_jis", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。", "/新聞"},
	{"euc-jp", "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。", "/新聞"},
	{"gbk", "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。", "/新闻"},
	{"big5", "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。", "/新聞"},
	{"euc-kr", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.", "/뉴스"},
}

func inCharset(t *testing.T, charset, text string) string {
	t.Helper()
	coding, err := htmlindex.Get(charset)
	if err != nil {
		t.Fatal(err)
	}
	out, err := coding.NewEncoder().String(text)
	if err != nil {
		t.Fatal(charset, err)
	}
	return out
}

// TestUndeclaredCharsets: a page that names no character set is read in the one that it is written in. The path of a
// link is then what a browser asks for, and a query keeps its octets.
func TestUndeclaredCharsets(t *testing.T) {
	for _, p := range phrases {
		page := "<title>x</title><p>" + inCharset(t, p.charset, p.text) + "</p><a href=\"" +
			inCharset(t, p.charset, p.path) + "?q\">x</a>"
		r, err := NewScanner(Options{}).Scan([]byte(page), []byte("text/html"))
		if err != nil || r.Charset != p.charset || show(r) != "anchor "+p.path+"?q" {
			t.Errorf("%s: read as %s: %s (%v)", p.charset, r.Charset, show(r), err)
		}
	}
}

// TestLatinTextIsNotGuessedAt: text that browsers read as windows-1252 stays so.
func TestLatinTextIsNotGuessedAt(t *testing.T) {
	for _, text := range []string{
		"Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience",
		"Alle Menschen sind frei und gleich an Würde und Rechten geboren. Größe, Übermut, Ärger, Öl",
		"Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med förnuft och samvete",
		"Todos los seres humanos nacen libres e iguales en dignidad y derechos; señor, año, niño, ¿qué?",
		"© 2026 «x»", "ÀÉÎÕÜ",
	} {
		page := "<p>" + inCharset(t, "windows-1252", text) + "</p><a href=/\xE9?\xE9>"
		r, err := NewScanner(Options{}).Scan([]byte(page), []byte("text/html"))
		if err != nil || r.Charset != "windows-1252" || show(r) != "anchor /é?%E9" {
			t.Errorf("%s: read as %s: %s (%v)", text, r.Charset, show(r), err)
		}
	}
}

// TestOnlySilenceIsGuessedAt: a declared character set is used, and a UTF-8 page with one invalid link stays UTF-8.
func TestOnlySilenceIsGuessedAt(t *testing.T) {
	p := phrases[0]
	russian := "<p>" + inCharset(t, p.charset, p.text) + "</p><a href=/\xE9>"
	for _, c := range []struct{ media, body, want string }{
		{"text/html; charset=iso-8859-1", russian, "windows-1252 anchor /é"},
		{"text/html", "<meta charset=koi8-u>" + russian, "koi8-u anchor /И"},
		{"text/html", strings.Repeat(" ", 1024) + "<p>" + p.text + "<a href=/\xE9><a href=/é>",
			"windows-1252 anchor /é\nanchor /é"},
		{"text/html", russian, "windows-1251 anchor /й"},
	} {
		r, err := NewScanner(Options{}).Scan([]byte(c.body), []byte(c.media))
		if got := r.Charset + " " + show(r); err != nil || got != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.media, got, c.want, err)
		}
	}
}
