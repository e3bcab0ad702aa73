//! Checks whether an open table still has its name. A file can be removed or replaced while
//! processes have it open; these then continue to use the old file.

use super::core::Core;
use super::due::NOTICE_GIVEN;
use crate::region::NameState;
use crate::sync::Ordering;

impl Core {
    /// Checks the name, at most once a second, and notifies the user once if the table has lost it.
    pub(crate) fn check_name_now(&self) {
        if !self.name.is_due() {
            return;
        }
        let path = self.path().display();
        let notice = match self.region().name_state() {
            NameState::Same => return,
            NameState::Gone => format!(
                "the table {path} was removed while this process has it open; this process still \
                uses the removed file, which others cannot open. Open the table again (or see \
                refresh). If you did not remove it, the system may have done so at logout: see \
                tavola doctor"
            ),
            NameState::Other => format!(
                "the table {path} was replaced while this process has it open; this process \
                still uses the old file, while others open the new one. Open the table again (or \
                see refresh)"
            ),
        };
        self.name.checked_s.store(NOTICE_GIVEN, Ordering::Relaxed);
        self.name.standard_error.notify(&notice);
    }
}
