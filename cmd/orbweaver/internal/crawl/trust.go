package crawl

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
)

// A crawl directory may be that of another person. The settings in it that reach beyond it are used only if this
// account has written them: crawl.toml then has their mark. ADR 66 says why.

// Trust is the flag that trusts a directory.
type Trust struct {
	TrustDir bool `help:"Use what in the directory runs a command, names a file or a server, or links elsewhere, though another account or machine wrote it. Read crawl.toml first."`

	kept command.KeptSettings // in the directory
}

// Args are the arguments that give the flag to another run.
func (t Trust) Args() []string {
	if t.TrustDir {
		return []string{"--trust-dir"}
	}
	return nil
}

// reaching returns the flags by which a crawl runs commands, names files and servers, and opens ports. The value is the
// default, which reaches nothing.
func reaching() map[string]string {
	return map[string]string{
		"hook": "", "on-warc-close": "", "upload": "", "upload-endpoint": "",
		"proxy": "", "resolver": "system", "allow-net": "", "allow-port": "", "netrc": "", "load-cookies": "",
		"listen": "", "listen-name": "", "token": "",
		"agent-file": "", "agent-plain": "false", "gossip": "127.0.0.1:7946", "agent-listen": "", "join": "",
		"seeds": "", "exclude-hosts": "", "include-hosts": "", "surts": "", "host-rules": "", "walls": "",
		"warc-dictionary": "", "dedup-from": "", "budgets": "",
	}
}

// reach returns the settings that reach beyond their directory, as lines "flag = value", and those of them in use.
func reach(kept *command.KeptSettings) (all, used []string) {
	flags := reaching()
	for _, flag := range slices.Sorted(maps.Keys(flags)) {
		value := strings.Join(kept.Values(flag), ", ")
		if value == "" || value == flags[flag] {
			continue
		}
		line := flag + " = " + value
		if all = append(all, line); kept.IsUsed(flag) {
			used = append(used, line)
		}
	}
	return all, used
}

// linksMax is how many links of a directory are looked at.
const linksMax = 1000

// links returns what in a directory leads out of it, as lines: symbolic links, and what is neither file nor directory
// nor socket, such as a named pipe.
func links(dir string) (lines []string, err error) {
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // told by what uses it
				return nil
			}
			return err
		}
		inside, rerr := filepath.Rel(dir, name)
		switch kind := e.Type(); {
		case rerr != nil, inside == ".", kind.IsRegular(), kind.IsDir(), kind&fs.ModeSocket != 0:
		case kind&fs.ModeSymlink == 0:
			lines = append(lines, inside+" is not a file")
		default:
			target, err := os.Readlink(name)
			if err != nil || !staysInside(inside, target) {
				lines = append(lines, inside+" -> "+target)
			}
		}
		if len(lines) > linksMax {
			return filepath.SkipAll
		}
		return nil
	})
	return lines, err
}

// staysInside reports whether a link in a directory leads to a place in it. One with ".." behind a name does not: the
// name may be another link.
func staysInside(link, target string) bool {
	return !filepath.IsAbs(target) && filepath.Clean(target) == target &&
		filepath.IsLocal(filepath.Join(filepath.Dir(link), target))
}

// check refuses settings and links of a directory that reach beyond it, if this account did not write them. hasSettings
// says that there is a file of settings.
func (t *Trust) check(dir string, hasSettings, isExplained bool) error {
	if t.TrustDir {
		return nil
	}
	if !hasSettings {
		return refuseLinks(dir)
	}
	all, used := reach(&t.kept)
	found, err := links(dir)
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	if used = append(used, found...); isExplained {
		used = slices.DeleteFunc(used, isUnusedByExplain)
	}
	if len(used) == 0 {
		return nil
	}
	if t.kept.Mark != "" {
		key, err := readKey()
		if err == nil && hmac.Equal([]byte(t.kept.Mark), []byte(markOf(key, all, found))) {
			return nil
		}
	}
	return fmt.Errorf("--dir: this account did not write what in %s reaches beyond it:%s\n"+
		"Give these settings as flags, or --trust-dir if you have read and trust them", dir, command.PlainLines(used))
}

// isUnusedByExplain reports whether explain does not use a line of reach or links. It reads the lists of filters, and
// changes nothing.
func isUnusedByExplain(line string) bool {
	flag, _, _ := strings.Cut(line, " = ")
	return !slices.Contains([]string{"exclude-hosts", "include-hosts", "surts", "host-rules", "walls", "seeds"}, flag)
}

// refuseLinks refuses what leads out of a directory without settings. Its parts may be links to directories: so an
// archive is put on another disk before the crawl begins.
func refuseLinks(dir string) error {
	found, err := links(dir)
	if errors.Is(err, fs.ErrNotExist) || len(found) == 0 {
		return nil
	}
	found = slices.DeleteFunc(found, func(line string) bool {
		name, _, _ := strings.Cut(line, " -> ")
		info, err := os.Stat(filepath.Join(dir, name))
		isPart := name == layout.ArchiveDir || name == layout.FrontierDir || name == layout.LogsDir
		return isPart && err == nil && info.IsDir()
	})
	if err != nil || len(found) == 0 {
		return err
	}
	return fmt.Errorf("--dir: there is no %s in %s, and this leads out of it:%s\n"+
		"Remove it, or give --trust-dir", layout.SettingsFile, dir, command.PlainLines(found))
}

// markOf is the mark of an account under settings and links.
func markOf(key []byte, settings, links []string) string {
	h := hmac.New(sha256.New, key)
	for _, line := range slices.Concat(settings, []string{""}, links) {
		fmt.Fprintf(h, "%d %s\n", len(line), line)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// mark returns the line with the mark of this account for a file of settings; "" if nothing in it reaches beyond dir.
func mark(dir string, file []byte) (string, error) {
	kept, err := command.Kept(layout.SettingsFile, file)
	if err != nil {
		return "", err
	}
	found, err := links(dir)
	if err != nil {
		return "", err
	}
	all, _ := reach(&kept)
	if len(all)+len(found) == 0 {
		return "", nil
	}
	key, err := makeKey()
	if err != nil {
		return "", err
	}
	return command.MarkLine(markOf(key, all, found)), nil
}

// keyBytes is the length of the key with which an account marks settings.
const keyBytes = 32

// keyFile is the file with the key of this account.
func keyFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "orbweaver", "settings.key"), err
}

// readKey reads the key of this account.
func readKey() ([]byte, error) {
	name, err := keyFile()
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(name)
	if err == nil && len(key) != keyBytes {
		err = fmt.Errorf("%s has %d bytes in place of %d: remove it", name, len(key), keyBytes)
	}
	return key, err
}

// makeKey reads the key of this account. It makes one if there is none.
func makeKey() ([]byte, error) {
	key, err := readKey()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	name, err := keyFile()
	if err != nil {
		return nil, err
	}
	const onlyOwner = 0o700
	if err := os.MkdirAll(filepath.Dir(name), onlyOwner); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new.*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // the key has another name then
	key = make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) { // another crawl was first
		return nil, err
	}
	return readKey()
}
