package firefox

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hyroute/hyroute/e2e/driver"
)

// nowhere is an address that nothing is fetched from.
const nowhere = "data:,"

// quiet are the preferences of a browser that asks nothing and calls nobody. The remote agent sets most of the kind by
// itself, but only after the first requests have left.
var quiet = map[string]any{
	"app.normandy.enabled":                                       false,
	"app.update.disabledForTesting":                              true,
	"browser.aboutwelcome.enabled":                               false,
	"browser.newtabpage.enabled":                                 false,
	"browser.newtabpage.activity-stream.feeds.topsites":          false,
	"browser.region.network.url":                                 "",
	"browser.safebrowsing.blockedURIs.enabled":                   false,
	"browser.safebrowsing.downloads.enabled":                     false,
	"browser.safebrowsing.malware.enabled":                       false,
	"browser.safebrowsing.phishing.enabled":                      false,
	"browser.safebrowsing.update.enabled":                        false,
	"browser.search.update":                                      false,
	"browser.sessionstore.resume_from_crash":                     false,
	"browser.shell.checkDefaultBrowser":                          false,
	"browser.startup.homepage":                                   "about:blank",
	"browser.startup.homepage_override.mstone":                   "ignore",
	"browser.startup.page":                                       0,
	"browser.topsites.contile.enabled":                           false,
	"datareporting.healthreport.uploadEnabled":                   false,
	"datareporting.policy.dataSubmissionEnabled":                 false,
	"dom.max_script_run_time":                                    0,
	"dom.push.connection.enabled":                                false,
	"extensions.getAddons.cache.enabled":                         false,
	"extensions.systemAddon.update.enabled":                      false,
	"extensions.update.enabled":                                  false,
	"media.gmp-manager.updateEnabled":                            false,
	"messaging-system.rsexperimentloader.enabled":                false,
	"network.captive-portal-service.enabled":                     false,
	"network.connectivity-service.enabled":                       false,
	"network.dns.disablePrefetch":                                true,
	"network.http.speculative-parallel-limit":                    0,
	"network.prefetch-next":                                      false,
	"remote.active-protocols":                                    1, // WebDriver BiDi
	"security.certerrors.mitm.priming.enabled":                   false,
	"services.settings.server":                                   nowhere,
	"toolkit.startup.max_resumed_crashes":                        -1,
	"toolkit.telemetry.enabled":                                  false,
	"toolkit.telemetry.server":                                   nowhere,
	"toolkit.telemetry.unified":                                  false,
	"browser.newtabpage.activity-stream.telemetry":               false,
	"browser.newtabpage.activity-stream.feeds.system.topstories": false,
}

// preferences is the user.js of a profile.
func preferences(secure []string) []byte {
	var file bytes.Buffer
	for name, value := range quiet {
		fmt.Fprintf(&file, "user_pref(%q, %s);\n", name, driver.Quoted(value))
	}
	fmt.Fprintf(&file, "user_pref(%q, %q);\n", "dom.securecontext.allowlist", strings.Join(secure, ","))
	return file.Bytes()
}
