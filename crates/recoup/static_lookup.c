/* Names in a static program: only what is built into glibc.
 *
 * /etc/nsswitch.conf may name modules (mdns4_minimal, resolve, systemd) that glibc loads with
 * dlopen. They bring the machine's own glibc along, and where its version differs from the one in
 * the program, the process dies by a signal. `files` and `dns` are built in since glibc 2.34.
 */
#include <nss.h>

__attribute__((constructor)) static void look_up_without_modules(void) {
    __nss_configure_lookup("hosts", "files dns");
    __nss_configure_lookup("passwd", "files");
}
