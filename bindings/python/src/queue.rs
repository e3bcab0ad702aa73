//! Elements of a pool and their queues, for `tavola.Queue`.

use crate::cell::LockedCell;
use crate::error::{OrRaise, bad_option, refused};
use crate::lease::wait_in_slices;
use crate::text::name_of;
use crate::time::duration;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ffi::OsString;
use tavola::{Queue, QueueOptions, QueuePool};

/// The handles of one pool.
#[derive(Clone)]
struct Jobs {
    pool: QueuePool,
    free: Queue,
    jobs: Queue,
}

/// A pool of elements with a queue of free ones and a queue of jobs.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct JobPool {
    jobs: LockedCell<Option<Jobs>>,
}

impl JobPool {
    fn jobs(&self, py: Python<'_>) -> PyResult<Jobs> {
        match self.jobs.with(py, |jobs| jobs.clone()) {
            Some(jobs) => Ok(jobs),
            None => Err(refused(py, "CLOSED", "the queue is closed; open it again")),
        }
    }

    fn read(jobs: &Jobs, element: u32) -> tavola::Result<Vec<u8>> {
        let mut bytes = vec![0; jobs.pool.element_bytes() as usize];
        jobs.pool.read(element, 0, &mut bytes)?;
        Ok(bytes)
    }
}

#[pymethods]
impl JobPool {
    #[new]
    #[pyo3(signature = (name, elements, element_bytes, mode, group, any_owner))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = name_of)] name: OsString,
        elements: Option<u32>,
        element_bytes: u32,
        mode: u32,
        group: Option<u32>,
        any_owner: bool,
    ) -> PyResult<Self> {
        let open = || {
            let pool = match elements {
                None => QueuePool::open(&name)?,
                Some(elements) => {
                    let options = QueueOptions::new(elements, element_bytes)
                        .queues(["free", "jobs"])
                        .mode(mode)
                        .any_owner(any_owner);
                    match group {
                        Some(gid) => options.group(gid).open(&name)?,
                        None => options.open(&name)?,
                    }
                }
            };
            let (free, jobs) = (pool.queue("free")?, pool.queue("jobs")?);
            Ok(Jobs { pool, free, jobs })
        };
        let jobs = LockedCell::new(Some(py.detach(open).or_raise(py)?));
        Ok(Self { jobs })
    }

    /// Takes an element from the queue `free` or `jobs`; waits for one at most for the seconds
    /// given, `None` without a limit.
    fn pop(
        &self,
        is_job: bool,
        timeout: Option<&Bound<'_, PyAny>>,
        py: Python<'_>,
    ) -> PyResult<Option<u32>> {
        let jobs = self.jobs(py)?;
        let queue = if is_job { &jobs.jobs } else { &jobs.free };
        if let Some(element) = queue.pop().or_raise(py)? {
            return Ok(Some(element));
        }
        let limit = match timeout {
            Some(timeout) => duration("timeout", timeout)?,
            None => None,
        };
        if limit.is_some_and(|limit| limit.is_zero()) {
            return Ok(None);
        }
        let mut found = None;
        wait_in_slices(py, limit, |slice| {
            found = queue.pop_wait(slice)?;
            Ok(found.is_some())
        })?;
        Ok(found)
    }

    /// Writes a job into an element that this process holds, and adds it to the jobs. The first
    /// word comes last: until then the element counts as free.
    fn push_job(&self, element: u32, word: u32, job: &Bound<'_, PyBytes>) -> PyResult<()> {
        let py = job.py();
        let (jobs, bytes) = (self.jobs(py)?, job.as_bytes());
        if bytes.len() + 4 > jobs.pool.element_bytes() as usize {
            return Err(bad_option(py, "item", "it is longer than an element"));
        }
        let write = || {
            jobs.pool.write(element, 4, bytes)?;
            jobs.pool.write(element, 0, &word.to_le_bytes())?;
            jobs.jobs.push(element)
        };
        write().or_raise(py)
    }

    /// Returns the bytes of an element that this process holds.
    fn job<'py>(&self, py: Python<'py>, element: u32) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = Self::read(&self.jobs(py)?, element).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Ends a job: its element is free again.
    fn finish(&self, py: Python<'_>, element: u32) -> PyResult<()> {
        let jobs = self.jobs(py)?;
        jobs.pool.write(element, 0, &[0; 4]).or_raise(py)?;
        jobs.free.push(element).or_raise(py)
    }

    /// Gives a job back that this process holds: it is the last of the queue.
    fn give_back(&self, py: Python<'_>, element: u32) -> PyResult<()> {
        self.jobs(py)?.jobs.push(element).or_raise(py)
    }

    /// Returns jobs and free elements that dead processes held to their queues. Returns how many
    /// jobs.
    fn reclaim(&self, py: Python<'_>) -> PyResult<usize> {
        let jobs = self.jobs(py)?;
        py.detach(|| reclaim(&jobs)).or_raise(py)
    }

    /// Returns the number of jobs in the queue, of free elements, and of all elements.
    fn counts(&self, py: Python<'_>) -> PyResult<(usize, usize, u32)> {
        let jobs = self.jobs(py)?;
        Ok((jobs.jobs.len(), jobs.free.len(), jobs.pool.elements()))
    }

    #[getter]
    fn element_bytes(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.jobs(py)?.pool.element_bytes())
    }

    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<OsString> {
        Ok(self.jobs(py)?.pool.path().as_os_str().to_owned())
    }

    fn close(&self, py: Python<'_>) {
        let closed = self.jobs.with(py, Option::take);
        py.detach(|| drop(closed));
    }
}

fn reclaim(jobs: &Jobs) -> tavola::Result<usize> {
    if jobs.pool.lost()?.is_empty() {
        return Ok(0);
    }
    let mut count = 0;
    for element in jobs.pool.reclaim()? {
        let mut word = [0; 4];
        jobs.pool.read(element, 0, &mut word)?;
        match u32::from_le_bytes(word) {
            0 => jobs.free.push(element)?,
            _ => {
                jobs.jobs.push(element)?;
                count += 1;
            }
        }
    }
    Ok(count)
}
